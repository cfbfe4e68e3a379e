/**
 * What the budget needs of a store: items of counters and a text, written only under conditions. Everything
 * that all instances know of each other is in one item per app key.
 */

export { StoreThrottled } from '../store-throttled.ts';

export interface LimiterItem {
  /** Another one for each text; counters change under the same one. */
  readonly revision: string;
  /** Whole numbers, none below zero. */
  readonly counters: Readonly<Record<string, number>>;
  /** The budget's own, opaque to the store. */
  readonly text: string;
  /** What the clock of the last writer said, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** Adds `by` to a counter that stands at `atLeast` or more and at `atMost` or less. */
export interface Addition {
  readonly counter: string;
  readonly by: number;
  readonly min: number;
  readonly max: number;
}

/** Either way with the item as it is now; a refused write leaves it as it was. */
export type WriteAnswer =
  | { readonly written: true; readonly item: LimiterItem }
  | { readonly written: false; readonly item: LimiterItem | undefined };

/**
 * Port. Each write is atomic, and a read sees every write that was answered before it began. Rejects with
 * `StoreThrottled` when the store gets too many requests, and with anything else when it cannot be asked or
 * holds what is no item; it may take its time, because the budget gives up by itself.
 */
export interface LimiterStore {
  read(key: string): Promise<LimiterItem | undefined>;
  /** All additions or none: only under this revision, and only if each counter is within its bounds. */
  add(key: string, revision: string, additions: readonly Addition[], writtenAt: number): Promise<WriteAnswer>;
  /**
   * Puts `next` in the place of an item with the revision and all counters of `expected`, or where there is
   * none. After `expiresAt` (ms since the epoch) the store may drop the item; it need not be prompt, because
   * the budget forgets by itself what is past.
   */
  replace(
    key: string,
    expected: LimiterItem | undefined,
    next: LimiterItem,
    expiresAt: number,
  ): Promise<WriteAnswer>;
}
