/**
 * Versions of subjects, such as accounts, that invalidate the cached answers about them. A version is part of the answers'
 * keys, so a new version ends all earlier answers in all instances: an answer under the new version was asked for after the
 * change. No clocks are compared.
 */

import { steadyClock } from '../../kernel/age.ts';
import { type ResponseStore, StoreBreaker, type StoredResponse } from './store.ts';

export interface Versions {
  /**
   * Finds the present version of a subject. While the store is unreachable, and with `isLocal`, only the changes of this
   * instance count.
   */
  current(subject: string, isLocal?: boolean): Promise<string>;
  /**
   * Starts a new version after the subject has changed. Never rejects.
   *
   * @param isLocal starts it in this instance only, for callers that have no time to write to the store
   */
  change(subject: string, isLocal?: boolean): Promise<void>;
}

/** Lifetime of a version: longer than an answer that a change can end is served, the time of its fetch included. */
const lifeMs = 600_000;

const firstVersion = 'first';

interface OwnVersion {
  readonly version: string;
  readonly until: number;
  /** Whether the store has it: then the store's version is at least as new. */
  isStored: boolean;
}

/**
 * @example
 * const versions = createVersions({ store, clock: Date.now });
 * const before = await versions.current('account-1');
 * await versions.change('account-1');
 * (await versions.current('account-1')) === before; // false, in every instance on the store
 */
export function createVersions({
  store,
  clock: wall,
}: {
  readonly store: ResponseStore;
  readonly clock: () => number;
}): Versions {
  const clock = steadyClock(wall);
  const breaker = new StoreBreaker(clock);
  /** This instance's changes, in the order of their ends. */
  const own = new Map<string, OwnVersion>();

  function forget(now: number): void {
    for (const [subject, { until }] of own) {
      if (until > now) break;
      own.delete(subject);
    }
  }

  return {
    async current(subject, isLocal = false) {
      forget(clock());
      const known = own.get(subject);
      if (isLocal || (known && !known.isStored)) return known?.version ?? firstVersion;
      const stored = await breaker.run(() => store.read(keyOf(subject), 'consistent'));
      const latest = own.get(subject);
      // A change by this instance during the read is newer.
      const read = latest && !latest.isStored ? undefined : versionIn(stored);
      return read ?? latest?.version ?? firstVersion;
    },
    async change(subject, isLocal = false) {
      const now = clock();
      const version = crypto.randomUUID().replaceAll('-', '');
      const changed: OwnVersion = { version, until: now + lifeMs, isStored: false };
      own.delete(subject);
      own.set(subject, changed);
      if (isLocal) return;
      await breaker.run(async () => {
        const body = new TextEncoder().encode(version);
        await store.write(keyOf(subject), { kind: 'answer', body, askedAt: now }, now + lifeMs);
        changed.isStored = true;
      });
    },
  };
}

const keyOf = (subject: string) => `version#${subject}`;

const versionIn = (stored: StoredResponse | undefined): string | undefined =>
  stored?.kind === 'answer' ? new TextDecoder().decode(stored.body) : undefined;
