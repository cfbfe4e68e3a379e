/** Port: store of responses for all instances, and of the lease that lets one instance ask the upstream; its use. */

/** A response without its date. A refusal is JSON that the gateway reads back; the cache does not look into it. */
export type ResponseContent =
  | { readonly kind: 'answer'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly refusal: unknown };

export type StoredResponse = ResponseContent & {
  /** The moment just before the upstream was asked, in milliseconds since the epoch. */
  readonly askedAt: number;
};

/**
 * Each method rejects when the store fails or takes too long; none hangs. `read` may be some milliseconds behind; `lease`
 * and a consistent `read` must not be.
 */
export interface ResponseStore {
  read(key: string, consistency?: 'consistent'): Promise<StoredResponse | undefined>;
  /** Acquires the right to fetch until a time. True for one of several concurrent callers. */
  lease(key: string, now: number, until: number): Promise<boolean>;
  /** Makes the lease end at a time, so that a waiting instance can acquire it. */
  release(key: string, at: number): Promise<void>;
  /**
   * Stores a response and ends the lease. The store may drop the response after `expiresAt` (ms since the epoch). A response
   * that is too large for the store is left out, which is no failure.
   */
  write(key: string, answer: StoredResponse, expiresAt: number): Promise<void>;
  /** Counts one use by `account` in the minute of `now`; false when `max` are counted already. */
  countUse(account: string, now: number, max: number): Promise<boolean>;
}

/**
 * Largest stored response. Each kilobyte costs a write unit. 200 daily bars of twenty symbols have 81 kB, compressed; a page
 * of 100 orders has 70 kB, sealed.
 */
export const maxStoredBytes = 128 * 1024;

/** Pause after a failure of the store; without it each request would wait for the store's time-out. */
const storePauseMs = 1000;

/** One instance's circuit breaker, which leaves the store alone for a while after a failure. */
export class StoreBreaker {
  readonly #clock: () => number;
  #awayUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Runs work on the store; undefined also when the store fails, or has just failed. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#clock() < this.#awayUntil) return undefined;
    try {
      return await work();
    } catch {
      this.#awayUntil = this.#clock() + storePauseMs;
      return undefined;
    }
  }
}

/** Number of the minute, since the epoch, that contains a moment. */
export const minuteOf = (now: number): number => Math.floor(now / 60_000);

/** Limit of the responses in memory, far more than one person requests. */
const maxInMemory = 1000;

/**
 * Creates a store for one process: the local run, and tests.
 *
 * @example
 * const cache = { ...createMemoryCacheStores(), responses: createMemoryResponseStore() };
 */
export function createMemoryResponseStore(): ResponseStore {
  const answers = new Map<string, { readonly answer: StoredResponse; readonly expiresAt: number }>();
  const leases = new Map<string, number>();
  let counts = { minute: 0, of: new Map<string, number>() };
  return {
    async read(key) {
      return answers.get(key)?.answer;
    },
    async lease(key, now, until) {
      if ((leases.get(key) ?? 0) > now) return false;
      leases.set(key, until);
      return true;
    },
    async release(key, at) {
      leases.set(key, at);
    },
    async write(key, answer, expiresAt) {
      for (const [old, { expiresAt: at }] of answers) if (at <= answer.askedAt) answers.delete(old);
      for (const [old, until] of leases) if (until <= answer.askedAt) leases.delete(old);
      const [oldest] = answers.keys();
      if (answers.size >= maxInMemory && oldest !== undefined) answers.delete(oldest);
      answers.delete(key);
      answers.set(key, { answer, expiresAt });
      leases.delete(key);
    },
    async countUse(account, now, max) {
      const minute = minuteOf(now);
      if (counts.minute !== minute) counts = { minute, of: new Map() };
      const uses = counts.of.get(account) ?? 0;
      if (uses < max) counts.of.set(account, uses + 1);
      return uses < max;
    },
  };
}
