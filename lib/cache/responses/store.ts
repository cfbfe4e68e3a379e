/** Where answers are kept for all instances, and who of them asks the upstream. */

/** A refusal is JSON that the gateway reads back; to this cache it is opaque. */
export type ResponseContent =
  | { readonly kind: 'answer'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly refusal: unknown };

export type StoredResponse = ResponseContent & {
  /** The moment just before the upstream was asked, in milliseconds since the epoch. */
  readonly askedAt: number;
};

/**
 * Port. Rejects when the store cannot be asked or takes too long; it never hangs. `read` may be some
 * milliseconds behind, `lease` decides on what is.
 */
export interface ResponseStore {
  read(key: string): Promise<StoredResponse | undefined>;
  /** Until then nobody else gets it. True for one of those who ask at once. */
  lease(key: string, now: number, until: number): Promise<boolean>;
  /** Ends the lease then, for those who wait. */
  release(key: string, at: number): Promise<void>;
  /**
   * After `expiresAt` (ms since the epoch) it may be dropped. An answer that is too large for the store is
   * left out, which is no failure.
   */
  write(key: string, answer: StoredResponse, expiresAt: number): Promise<void>;
  /** Counts one more for `account` in the minute of `now`; false when `most` are counted already. */
  countUse(account: string, now: number, most: number): Promise<boolean>;
}

/** Which minute a moment is in. */
export const minuteOf = (now: number): number => Math.floor(now / 60_000);

/** Far more than one person asks for. */
const mostInMemory = 1000;

/** For one process: the local run, and tests. */
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
      if (answers.size >= mostInMemory && oldest !== undefined) answers.delete(oldest);
      answers.delete(key);
      answers.set(key, { answer, expiresAt });
      leases.delete(key);
    },
    async countUse(account, now, most) {
      const minute = minuteOf(now);
      if (counts.minute !== minute) counts = { minute, of: new Map() };
      const spent = counts.of.get(account) ?? 0;
      if (spent < most) counts.of.set(account, spent + 1);
      return spent < most;
    },
  };
}
