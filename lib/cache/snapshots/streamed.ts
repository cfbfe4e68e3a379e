/**
 * The log of the market stream, in which its listener tells all instances of changed members in batches, several a second,
 * and an instance's reading of it. One listener writes the log, so that a batch has no lease: its number is the one after
 * the last.
 */

import type { SnapshotEntry, ViewEntries } from './entries.ts';
import { maxAheadMs } from './store.ts';

/** A symbol's members that a stream carries, each with the text that the upstream wrote. */
export interface StreamedChange {
  readonly category: string;
  readonly symbol: string;
  /**
   * By the names that a snapshot record has: each group of members that change together whole, with the time by which
   * one state of it is newer than another; see `withNewer`.
   */
  readonly members: Readonly<Record<string, string>>;
}

/** Symbols of one category that one session of the stream carries. */
interface CarriedSymbols {
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

/** Far more than any instance looks back. */
const maxBatches = 256;

export function createMemoryStreamedLog(clock: () => number = Date.now): StreamedLog {
  let batches: readonly StreamedBatch[] = [];
  const last = () => batches.at(-1)?.sequence ?? 0;
  return {
    async read(after) {
      if (after !== undefined) return batches.filter(({ sequence }) => sequence > after);
      const whole = batches.filter(({ carried }) => carried).at(-1);
      return whole && whole.at >= clock() - beginMs ? batches.slice(batches.indexOf(whole)) : [];
    },
    async write(batch) {
      if (batch.sequence <= last()) return false;
      batches = [...batches.slice(1 - maxBatches), batch];
      return true;
    },
    async last() {
      return last();
    },
  };
}

/** An instance that has not read for this long begins with a whole batch: many batches may have been written meanwhile. */
const rejoinMs = 4000;

type Views = ReadonlyMap<string, ViewEntries>;

/** Reads the market stream's log into the memory's entries. */
export class StreamedReader {
  readonly #log: StreamedLog;
  readonly #views: Views;
  /** The last batch before which none is missing; undefined until a whole one was read. */
  #after: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #carried: readonly CarriedSymbols[] = [];

  /** @param views of the instance's memory, by id */
  constructor(log: StreamedLog, views: Views) {
    this.#log = log;
    this.#views = views;
  }

  /** Reads new batches. Rejects when the log cannot be read. */
  async poll(now: number): Promise<void> {
    if (now - this.#readAt > rejoinMs) this.#after = undefined;
    const batches = await this.#log.read(this.#after);
    this.#readAt = now;
    // After a hole nothing is known for certain, until the hole fills or a whole batch follows.
    for (const batch of batches)
      if (batch.carried || batch.sequence === (this.#after ?? Number.NaN) + 1) this.#apply(batch, now);
  }

  #apply(batch: StreamedBatch, now: number): void {
    this.#after = batch.sequence;
    for (const { category, symbol, members } of batch.changes)
      for (const view of this.#viewsOf(category)) view.change(symbol, members);
    if (batch.carried) this.#carry(batch.carried);
    batch.signs.forEach((signAt, session) => {
      // A wrong clock would make every record seem new.
      if (signAt > now + maxAheadMs) return;
      const torn = new Set(batch.torn?.[session]);
      for (const entry of this.#entriesOf(this.#carried[session]))
        if (entry.isStreamed && !torn.has(entry.symbol)) entry.sentAt = Math.max(entry.sentAt, signAt);
    });
  }

  /** A whole batch has brought every carried record up to its moment. */
  #carry(carried: readonly CarriedSymbols[]): void {
    for (const symbols of this.#carried)
      for (const entry of this.#entriesOf(symbols)) entry.isStreamed = false;
    this.#carried = carried;
    for (const symbols of carried) for (const entry of this.#entriesOf(symbols)) entry.isStreamed = true;
  }

  *#entriesOf(carried: CarriedSymbols | undefined): Generator<SnapshotEntry> {
    if (!carried) return;
    for (const { entries } of this.#viewsOf(carried.category))
      for (const symbol of carried.symbols) {
        const entry = entries.get(symbol);
        if (entry) yield entry;
      }
  }

  #viewsOf(category: string): readonly ViewEntries[] {
    return [...this.#views.values()].filter(({ view }) => view.category === category);
  }
}
