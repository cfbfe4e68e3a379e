/** The journal in memory: for tests, and for one process. */

import type { JournalEntry, OrderJournal } from './journal.ts';

/**
 * @example
 * const gateway = createGateway({ ...options, orders: { journal: createMemoryOrderJournal(), names } });
 */
export function createMemoryOrderJournal(): OrderJournal {
  const entries = new Map<string, JournalEntry>();

  const isOfSameAttempt = ({ key, attempt }: JournalEntry) => entries.get(key)?.attempt === attempt;

  const inTheWay = ({ key, attempt }: JournalEntry, now: number): readonly JournalEntry[] => {
    const stored = entries.get(key);
    const isFree =
      !stored ||
      stored.state === 'refused' ||
      stored.attempt === attempt ||
      (stored.expiresAt !== undefined && stored.expiresAt <= now);
    return isFree ? [] : [stored];
  };

  return {
    async begin(begun, now) {
      const taken = begun.flatMap((entry) => inTheWay(entry, now));
      if (taken.length > 0) return taken;
      for (const entry of begun) if (!isOfSameAttempt(entry)) entries.set(entry.key, entry);
      return 'begun';
    },
    async finish({ key, attempt, state, record }) {
      const stored = entries.get(key);
      const mayChange =
        stored?.attempt === attempt &&
        stored.state !== 'accepted' &&
        (stored.state !== 'refused' || state === 'accepted');
      if (mayChange) entries.set(key, { ...stored, state, record });
      return mayChange;
    },
    async read(keys) {
      return new Map(keys.flatMap((key) => [...named(key, entries.get(key))]));
    },
    async unsettled(credential, limit) {
      return [...entries.values()]
        .filter((entry) => entry.credential === credential && isUnsettled(entry))
        .sort((a, b) => a.at - b.at)
        .slice(0, limit);
    },
  };
}

const named = (key: string, entry: JournalEntry | undefined) => (entry ? [[key, entry] as const] : []);

/** Evidence is looked for. */
export const isUnsettled = ({ state, canSettle }: Pick<JournalEntry, 'state' | 'canSettle'>): boolean =>
  canSettle && (state === 'pending' || state === 'unknown');
