/** The quotes of one view that an instance has in memory, and how much each is in demand. */

import { textHash } from './hash.ts';
import type { SnapshotOptions } from './options.ts';
import { type View, viewOfId } from './view.ts';

/** One symbol of a view. */
export interface SnapshotEntry {
  readonly symbol: string;
  readonly mark: number;
  /** The record as the upstream sent it. */
  record: Uint8Array;
  /** Changes with the record; worked out when it is first wanted. */
  hash: number | undefined;
  /** Just before the upstream was asked, in milliseconds since the epoch. */
  sentAt: number;
  /** When a client last asked any instance for it, as far as is known here. */
  askedAt: number;
  /** When the journal last said that it was asked for. */
  toldAt: number;
  /** How often it was asked for lately: all instances together, older ones counting less. */
  demand: number;
  /** How often it was asked for here since this instance last told. */
  untold: number;
}

/** 16 bits that stand for a symbol among those that a turn asks for. */
export const markOf = (symbol: string): number => textHash(symbol) & 0xffff;

/** Demand of so long ago counts a third of today's. */
const demandMs = 60_000;

export class ViewEntries {
  readonly view: View;
  readonly lines = new Map<string, SnapshotEntry>();
  readonly #figures: SnapshotOptions;
  readonly #untold = new Set<SnapshotEntry>();
  #fadedAt = Number.NEGATIVE_INFINITY;

  constructor(id: string, figures: SnapshotOptions) {
    this.view = viewOfId(id);
    this.#figures = figures;
  }

  /** Takes a record unless there is a newer one. */
  put(symbol: string, record: Uint8Array, sentAt: number): void {
    const line = this.lines.get(symbol);
    if (line && line.sentAt >= sentAt) return;
    if (line) {
      line.record = record;
      line.hash = undefined;
      line.sentAt = sentAt;
    } else {
      // Whoever had it fetched wanted it.
      const asked = { askedAt: sentAt, toldAt: sentAt, demand: 0, untold: 0 };
      const mark = markOf(symbol);
      this.lines.set(symbol, { symbol, mark, record, hash: undefined, sentAt, ...asked });
    }
  }

  drop(symbol: string): void {
    const line = this.lines.get(symbol);
    if (!line) return;
    this.lines.delete(symbol);
    this.#untold.delete(line);
  }

  /** A client asked here. */
  count(line: SnapshotEntry, now: number): void {
    line.askedAt = now;
    line.untold++;
    this.#untold.add(line);
  }

  /** Clients asked somewhere: the journal says so. */
  hear(symbol: string, times: number, at: number): void {
    const line = this.lines.get(symbol);
    if (!line) return;
    line.demand += times;
    line.toldAt = Math.max(line.toldAt, at);
    line.askedAt = Math.max(line.askedAt, at);
  }

  /** A checkpoint says how much a symbol is in demand. */
  expect(symbol: string, times: number, askedAt: number): void {
    const line = this.lines.get(symbol);
    if (!line) return;
    line.demand = Math.max(line.demand, times);
    // What is put counts as asked for at that moment; the checkpoint knows better.
    line.askedAt = line.untold > 0 ? Math.max(line.askedAt, askedAt) : askedAt;
    line.toldAt = Math.max(line.toldAt, askedAt);
  }

  /** The next `most` to tell of: those of which the journal heard longest ago come first, so that nobody forgets them. */
  tell(most: number): readonly (readonly [symbol: string, times: number])[] {
    let lines = [...this.#untold];
    if (lines.length > most) lines = lines.sort((a, b) => a.toldAt - b.toldAt).slice(0, most);
    return lines.map((line) => {
      const times = line.untold;
      line.untold = 0;
      this.#untold.delete(line);
      return [line.symbol, times] as const;
    });
  }

  get untold(): number {
    return this.#untold.size;
  }

  /** Lines in use, after forgetting what is of no use to anybody. */
  inUse(now: number): SnapshotEntry[] {
    const { forgetMs, expireAfterMs, mostLines } = this.#figures;
    const fading = Math.exp(-Math.max(0, now - this.#fadedAt) / demandMs);
    this.#fadedAt = now;
    const lines: SnapshotEntry[] = [];
    for (const line of this.lines.values()) {
      line.demand *= fading;
      if (now - line.askedAt <= forgetMs) lines.push(line);
      else if (now - line.sentAt > expireAfterMs) this.drop(line.symbol);
    }
    if (lines.length <= mostLines) return lines;
    lines.sort((a, b) => b.askedAt - a.askedAt);
    for (const line of lines.splice(mostLines)) this.drop(line.symbol);
    return lines;
  }
}
