/**
 * What the listener of the market stream tells all instances: batches of changed members, several a second, in a log of
 * its own. One listener writes it, so that a batch has no lease: its number is the one after the last.
 */

/** A symbol's members that a stream carries, each with the text that the upstream wrote. */
export interface StreamedChange {
  readonly category: string;
  readonly symbol: string;
  /**
   * By the names that a snapshot record has. All that the listener knows of a group of members that change together,
   * with the moment by which one is newer than another: see `newerMembers`.
   */
  readonly members: Readonly<Record<string, string>>;
}

/** Symbols of one category that one session of the stream carries. */
export interface CarriedSymbols {
  readonly category: string;
  readonly symbols: readonly string[];
}

export interface StreamedBatch {
  readonly sequence: number;
  /** When it was made, in milliseconds since the epoch: it holds all that the listener received before. */
  readonly at: number;
  /**
   * Until when every change is known to have been told, in milliseconds since the epoch: the last sign of life of the session
   * that carries the symbols. In the order of `carried` of the last whole batch.
   */
  readonly signs: readonly number[];
  /**
   * Symbols of each session, in the same order, of which something changed that it has not told: the sign does not count for
   * them.
   */
  readonly torn?: readonly (readonly string[])[];
  /** Makes the batch a whole one: `changes` has every symbol that is carried, and a reader can begin with it. */
  readonly carried?: readonly CarriedSymbols[];
  readonly changes: readonly StreamedChange[];
}

/** Port: the log of batches. It rejects as a snapshot store does, and never hangs. */
export interface StreamedLog {
  /**
   * The batches after `after`, in their order. What is read may be some milliseconds behind, and lack one that a later
   * one follows.
   *
   * @param after default: from the last whole batch on, unless it is older than `beginMs`
   */
  read(after?: number): Promise<readonly StreamedBatch[]>;
  /** Whether it was written: a number that is taken means that another listener writes. */
  write(batch: StreamedBatch): Promise<boolean>;
  /** The number of the last batch; 0 before the first. A read that sees every write. */
  last(): Promise<number>;
}

/** How often a whole batch is written while values change, and while none does. */
export const wholeEveryMs = { busy: 2000, quiet: 10_000 } as const;
/** How far a reader that begins looks back. */
export const beginMs = 12_000;
