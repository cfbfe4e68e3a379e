/**
 * The port to the store that all instances share, the key of its items, a store in memory, and the instances' common clock.
 * All shared knowledge is in one item per app key: counters and a text, written only under conditions.
 */

import { sha256Hex } from '../kernel/key-text.ts';

/** One app key's item. A store keeps all four members and gives them back unchanged. */
export interface LimiterItem {
  /** Differs for each text; counters change under the same revision. */
  readonly revision: string;
  /** Whole numbers, none below zero. */
  readonly counters: Readonly<Record<string, number>>;
  /** The limiter's schedule, opaque to the store. */
  readonly text: string;
  /** The last writer's clock, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** Adds `by` to a counter whose value before the addition is from `min` to `max`, both included. */
export interface Addition {
  readonly counter: string;
  readonly by: number;
  readonly min: number;
  readonly max: number;
}

/** Answer to a write, with the item as it is now; a refused write leaves the item unchanged. */
export type WriteAnswer =
  | { readonly written: true; readonly item: LimiterItem }
  | { readonly written: false; readonly item: LimiterItem | undefined };

/**
 * Port: the store that instances share. Each write is atomic, and a read sees every write that was answered
 * before the read began. Each method rejects with `StoreThrottled` when the store receives too many requests,
 * and then has written nothing; and with any other error when it cannot be reached or holds something that is no item. A
 * method needs no time limit, because the limiter has one. It must not repeat a write by itself, because a write that
 * succeeded without an answer would count twice.
 *
 * @example
 * // `rows.update` changes one row in a transaction: it stores what the function returns, if anything.
 * const store: LimiterStore = {
 *   read: (key) => rows.get(key),
 *   async add(key, revision, additions, writtenAt) {
 *     let written = false;
 *     const item = await rows.update(key, (row) => {
 *       written =
 *         row?.revision === revision &&
 *         additions.every(({ counter, min, max }) => row.counters[counter] >= min && row.counters[counter] <= max);
 *       if (!written) return undefined;
 *       const sums = additions.map(({ counter, by }) => [counter, row.counters[counter] + by]);
 *       return { ...row, writtenAt, counters: { ...row.counters, ...Object.fromEntries(sums) } };
 *     });
 *     return { written, item };
 *   },
 *   replace: …, // the same, if the row has the revision and all counters of `expected`
 * };
 */
export interface LimiterStore {
  /** Present when no other process writes to the store: then no wall clocks are compared, and none can shorten a window. */
  readonly isOfOneProcess?: true;
  /** The item, or undefined where there is none. */
  read(key: string): Promise<LimiterItem | undefined>;
  /** Makes all additions or none: only under this revision, and only if each counter exists and is within its bounds. */
  add(key: string, revision: string, additions: readonly Addition[], writtenAt: number): Promise<WriteAnswer>;
  /**
   * Replaces an item that has the revision and all counters of `expected` by `next`; with `expected` undefined, writes
   * `next` only where there is no item. After `expiresAt` (ms since the epoch) the store may drop the item, sooner or
   * later: the limiter ignores permits that have left its windows.
   */
  replace(
    key: string,
    expected: LimiterItem | undefined,
    next: LimiterItem,
    expiresAt: number,
  ): Promise<WriteAnswer>;
}

/**
 * The key of an app key's item. It contains nothing that a caller sends, and does not reveal the app key.
 *
 * @param bucket the name by which instances share a limit, as in `LimiterOptions`
 * @example
 * await store.read(await limiterKey('production', appKey)); // e.g. to look at what a limiter has counted
 */
export async function limiterKey(bucket: string, appKey: string): Promise<string> {
  // The first word is part of stored keys: with another one, every limiter would forget earlier requests.
  const text = JSON.stringify(['countersign budget', bucket, appKey]);
  // 128 bits are enough for a name.
  return `${bucket}#${(await sha256Hex(text)).slice(0, 32)}`;
}

/**
 * A store for one process: a limit within it, a local run, and tests. It never rejects.
 *
 * @example
 * const limiter = createLimiter({ store: createMemoryLimiterStore(), bucket: 'local', limits });
 */
export function createMemoryLimiterStore(): LimiterStore {
  const items = new Map<string, LimiterItem>();
  const write = (key: string, item: LimiterItem): WriteAnswer => {
    items.set(key, item);
    return { written: true, item };
  };
  return {
    isOfOneProcess: true,
    async read(key) {
      return items.get(key);
    },
    async add(key, revision, additions, writtenAt) {
      const item = items.get(key);
      if (item?.revision !== revision) return { written: false, item };
      const counters = { ...item.counters };
      for (const { counter, by, min, max } of additions) {
        const value = counters[counter];
        if (value === undefined || value < min || value > max) return { written: false, item };
        counters[counter] = value + by;
      }
      return write(key, { ...item, counters, writtenAt });
    },
    async replace(key, expected, next) {
      const item = items.get(key);
      return isSameItem(expected, item) ? write(key, next) : { written: false, item };
    },
  };
}

/** Whether the stored item has the revision and all counters of the expected one. */
export function isSameItem(expected: LimiterItem | undefined, item: LimiterItem | undefined): boolean {
  if (!expected || !item) return expected === item;
  return (
    item.revision === expected.revision &&
    Object.entries(expected.counters).every(([name, value]) => item.counters[name] === value)
  );
}

/**
 * The clock that instances share. An instance whose clock is behind another's follows it as soon as it reads an item of the
 * other, so that it does not wait for times that only seem far ahead. No clock gets further from the true time than the
 * furthest one already is.
 */
export class StoreClock {
  readonly #clock: () => number;
  #ahead = 0;
  #last = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** How far the shared clock is ahead of this instance's own, in milliseconds; grows when it follows another. */
  get ahead(): number {
    return this.#ahead;
  }

  /** The time in milliseconds since the epoch, which never goes back. */
  now(): number {
    this.#last = Math.max(this.#last, this.#clock() + this.#ahead);
    return this.#last;
  }

  /** Moves the clock forward to a time that another instance's clock has reached already. */
  follow(writtenAt: number): void {
    this.#ahead = Math.max(this.#ahead, writtenAt - this.#clock());
  }
}
