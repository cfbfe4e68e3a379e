/**
 * Versions of subjects, such as accounts, that invalidate the cached answers about them. A version is part of the answers'
 * keys, so a new version ends all earlier answers in all instances: an answer under the new version was asked for after the
 * change. No clocks are compared.
 */

import { steadyClock } from '../../kernel/age.ts';
import type { ResponseStore } from './store.ts';

interface VersionsOptions {
  readonly store: ResponseStore;
  readonly clock: () => number;
  /** A text that no earlier call returned. Default: 128 random bits. */
  readonly nonce?: () => string;
}

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
/** Pause after a failure of the store; without it each request would wait for the store's time-out. */
const storePauseMs = 1000;

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
export function createVersions({ store, clock: wall, nonce = randomText }: VersionsOptions): Versions {
  const clock = steadyClock(wall);
  const own = new Map<string, OwnVersion>();
  let storeAwayUntil = Number.NEGATIVE_INFINITY;

  async function tryStore<T>(work: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    if (clock() < storeAwayUntil) return undefined;
    try {
      return { value: await work() };
    } catch {
      storeAwayUntil = clock() + storePauseMs;
      return undefined;
    }
  }

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
      const read = await tryStore(() => store.read(keyOf(subject), 'consistent'));
      // A change by this instance during the read is newer.
      const latest = own.get(subject);
      if (!read || (latest && !latest.isStored)) return latest?.version ?? firstVersion;
      return versionIn(read.value) ?? latest?.version ?? firstVersion;
    },
    async change(subject, isLocal = false) {
      const now = clock();
      const changed: OwnVersion = { version: nonce(), until: now + lifeMs, isStored: false };
      own.delete(subject);
      own.set(subject, changed);
      if (isLocal) return;
      const body = new TextEncoder().encode(changed.version);
      const key = keyOf(subject);
      const written = await tryStore(() =>
        store.write(key, { kind: 'answer', body, askedAt: now }, now + lifeMs),
      );
      changed.isStored = written !== undefined;
    },
  };
}

const keyOf = (subject: string) => `version#${subject}`;

const randomText = () => crypto.randomUUID().replaceAll('-', '');

type StoredRead = Awaited<ReturnType<ResponseStore['read']>>;

const versionIn = (stored: StoredRead): string | undefined =>
  stored?.kind === 'answer' ? new TextDecoder().decode(stored.body) : undefined;
