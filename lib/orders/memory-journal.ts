/** The journal in memory, for tests and for one process. */

import type { StoredCounter } from '../guard-rails/counter.ts';
import type {
  CountedChanges,
  CountingJournal,
  EntryOutcome,
  EntryState,
  JournalEntry,
  RecoverableJournal,
  Stale,
  UnsettledList,
} from './journal.ts';
import { isUnderWay, reconciliationKey } from './reconciliation.ts';
import { isUnseen, isWatched } from './record.ts';

/** Content of a journal; a journal over an older copy acts like a restored table. */
export interface KeptJournal {
  readonly entries: Map<string, JournalEntry>;
  readonly counters: Map<string, StoredCounter>;
}

/**
 * @example
 * const gateway = createGateway({ ...options, orders: { journal: createMemoryOrderJournal(), names } });
 */
export const createMemoryOrderJournal = (
  kept: KeptJournal = { entries: new Map(), counters: new Map() },
): CountingJournal & RecoverableJournal => {
  const journal = new MemoryJournal(kept);
  return {
    begin: (entries, now) => journal.begin(entries, now),
    beginCounted: (entries, now, changes) => journal.beginCounted(entries, now, changes),
    finish: (outcome) => journal.finish(outcome),
    read: (keys) => journal.read(keys),
    unsettled: (list, from, limit) => journal.unsettled(list, from, limit),
    change: (changes) => journal.change(changes),
    counters: (keys) => journal.counters(keys),
    exposed: (from, limit) => journal.exposed(from, limit),
    isRestored: async () => isUnderWay(await journal.counters([reconciliationKey])),
    recover: async (entry, read) => journal.recover(entry, read),
  };
};

class MemoryJournal implements CountingJournal {
  readonly #entries: KeptJournal['entries'];
  readonly #counters: KeptJournal['counters'];

  constructor({ entries, counters }: KeptJournal) {
    this.#entries = entries;
    this.#counters = counters;
  }

  async begin(begun: readonly JournalEntry[], now: number) {
    const written = await this.beginCounted(begun, now, { counters: [], exposures: [] });
    return isStale(written) ? [] : written;
  }

  async beginCounted(
    begun: readonly JournalEntry[],
    now: number,
    changes: CountedChanges,
  ): Promise<'begun' | readonly JournalEntry[] | Stale> {
    const taken = begun.flatMap((entry) => this.#inTheWay(entry, now));
    if (taken.length > 0) return taken;
    if (begun.every((entry) => this.#isOfSameAttempt(entry))) return 'begun';
    const stale = this.#stale(changes);
    if (stale) return stale;
    for (const entry of begun) if (!this.#isOfSameAttempt(entry)) this.#entries.set(entry.key, entry);
    this.#write(changes);
    return 'begun';
  }

  async finish(outcome: EntryOutcome) {
    const { key, attempt, state, record } = outcome;
    const stored = this.#entries.get(key);
    if (stored?.attempt !== attempt) return false;
    const { states, isOverWords } = replacedBy(outcome);
    const mayChange = states.includes(stored.state) || (isOverWords && isWatched(stored.record));
    if (mayChange) this.#entries.set(key, { ...stored, state, record });
    return mayChange;
  }

  async read(keys: readonly string[]) {
    return new Map(keys.flatMap((key) => [...named(key, this.#entries.get(key))]));
  }

  async unsettled(list: UnsettledList, from: string, limit: number) {
    return this.#list((entry) => listOf(entry) === list, from, limit);
  }

  async change(changes: CountedChanges) {
    const stale = this.#stale(changes);
    if (stale) return stale;
    this.#write(changes);
    return 'changed' as const;
  }

  async counters(keys: readonly string[]) {
    return keys.flatMap((key) => this.#counters.get(key) ?? []);
  }

  async exposed(from: string, limit: number) {
    return this.#list(({ exposure }) => exposure !== undefined, from, limit);
  }

  recover(entry: JournalEntry, read: JournalEntry | undefined): boolean {
    const stored = this.#entries.get(entry.key);
    const isAsRead = stored?.attempt === read?.attempt && stored?.state === read?.state;
    if (isAsRead) this.#entries.set(entry.key, entry);
    return isAsRead;
  }

  #list(isListed: (entry: JournalEntry) => boolean, from: string, limit: number) {
    const listed = [...this.#entries.values()].filter(isListed).sort((a, b) => (a.key < b.key ? -1 : 1));
    const start = listed.findIndex(({ key }) => key >= from);
    return (start < 0 ? listed : [...listed.slice(start), ...listed.slice(0, start)]).slice(0, limit);
  }

  #isOfSameAttempt({ key, attempt }: JournalEntry): boolean {
    return this.#entries.get(key)?.attempt === attempt;
  }

  #inTheWay({ key, attempt }: JournalEntry, now: number): readonly JournalEntry[] {
    const stored = this.#entries.get(key);
    const isFree =
      !stored ||
      stored.attempt === attempt ||
      (stored.exposure === undefined &&
        (stored.state === 'refused' || (stored.expiresAt !== undefined && stored.expiresAt <= now)));
    return isFree ? [] : [stored];
  }

  /** The counters that changed since they were read; undefined when nothing has changed. */
  #stale({ counters, exposures }: CountedChanges): Stale | undefined {
    const changed = counters.flatMap(({ key, revision }) => {
      const stored = this.#counters.get(key);
      return stored && stored.revision !== revision ? [stored] : [];
    });
    const isOther = exposures.some(({ key, attempt, before, state }) => {
      const entry = this.#entries.get(key);
      return (
        entry?.attempt !== attempt || entry.exposure !== before || entry.state !== (state ?? entry.state)
      );
    });
    return changed.length > 0 || isOther ? { counters: changed, exposures: isOther } : undefined;
  }

  #write({ counters, exposures }: CountedChanges): void {
    for (const { key, revision, next } of counters)
      this.#counters.set(key, { key, revision: revision + 1, state: next });
    for (const { key, next } of exposures) {
      const { exposure: _, ...entry } = this.#entries.get(key)!;
      this.#entries.set(key, { ...entry, ...(next !== undefined && { exposure: next }) });
    }
  }
}

const named = (key: string, entry: JournalEntry | undefined) => (entry ? [[key, entry] as const] : []);

const isStale = (written: 'begun' | readonly JournalEntry[] | Stale): written is Stale =>
  written !== 'begun' && 'counters' in written;

/** Selects the entries that an outcome of the same attempt replaces: by state, and those settled without a sight. */
export function replacedBy({ state, record, over }: Omit<EntryOutcome, 'key' | 'attempt'>) {
  const isWord = isUnseen(record);
  const states: readonly EntryState[] = [
    'pending',
    'unknown',
    ...(state === 'accepted' && !isWord ? ['refused' as const] : []),
    ...(over === 'accepted' ? [over] : []),
  ];
  return { states, isOverWords: state !== 'unknown' && (!isWord || over === 'unseen') };
}

const isOpen = ({ state }: Pick<JournalEntry, 'state'>): boolean =>
  state === 'pending' || state === 'unknown';

/** The list in which the settlement finds the entry; undefined for a settled one. */
export const listOf = (
  entry: Pick<JournalEntry, 'state' | 'listedAs' | 'record'>,
): UnsettledList | undefined => {
  if (isOpen(entry)) return entry.listedAs;
  return isWatched(entry.record) ? 'unseen' : undefined;
};
