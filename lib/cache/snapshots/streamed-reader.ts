/** An instance's reading of the market stream's log: what its batches tell goes into the memory's entries. */

import { maxAheadMs } from './checkpoint-reader.ts';
import type { CarriedSymbols, StreamedBatch, StreamedLog } from './streamed.ts';
import type { SnapshotEntry, ViewEntries } from './view-entries.ts';

/** An instance that has not read for so long begins with a whole batch: what was written meanwhile may be much. */
const rejoinMs = 4000;

type Views = ReadonlyMap<string, ViewEntries>;

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

  /** Reads what is new. Rejects when the log cannot be read. */
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
      // By a wrong clock every record would seem to be new.
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
