/** Negative caching: symbols that the upstream does not know, by view and until when, and which of them clients request. */

import { dropOldest } from '../../kernel/bounded-map.ts';
import type { NegativeItem } from './store.ts';
import type { UpstreamError } from './upstream-error.ts';

export interface NegativeEntry {
  /** In which it was asked for. */
  readonly view: string;
  readonly until: number;
  /** How the upstream refused it; absent when the upstream left it out of its answer. */
  readonly error?: UpstreamError;
  /** A first, short entry of a symbol that still counts as valid; if it fails once more, the next lasts long. */
  readonly isFirst?: true;
}

/** How long a first entry lasts. */
export const firstNegativeMs = 30_000;

export class NegativeCache {
  readonly #max: number;
  readonly #negativeMs: number;
  /** By symbol and view. */
  readonly #entries = new Map<string, Map<string, NegativeEntry>>();

  constructor(max: number, negativeMs: number) {
    this.#max = max;
    this.#negativeMs = negativeMs;
  }

  /** In any view, however long ago. */
  hasAny(symbol: string): boolean {
    return this.#entries.has(symbol);
  }

  get(symbol: string, view: string): NegativeEntry | undefined {
    return this.#entries.get(symbol)?.get(view);
  }

  /** The symbol becomes the youngest of all, because the oldest are dropped first. */
  add(symbol: string, entry: NegativeEntry): void {
    const views = this.#entries.get(symbol) ?? new Map<string, NegativeEntry>();
    views.set(entry.view, entry);
    this.#entries.delete(symbol);
    this.#entries.set(symbol, views);
    dropOldest(this.#entries, this.#max);
  }

  remove(symbol: string, view: string): void {
    const views = this.#entries.get(symbol);
    if (views?.delete(view) && views.size === 0) this.#entries.delete(symbol);
  }

  /** When this instance learnt that the symbol is unknown in the view; minus infinity if never. */
  since(symbol: string, view: string): number {
    const entry = this.get(symbol, view);
    return entry
      ? entry.until - (entry.isFirst ? firstNegativeMs : this.#negativeMs)
      : Number.NEGATIVE_INFINITY;
  }

  /** Entries of the `max` youngest symbols. */
  latest(max: number, now: number): readonly NegativeItem[] {
    return [...this.#entries]
      .slice(-max)
      .flatMap(([symbol, views]) =>
        [...views.values()].flatMap(({ view, until, isFirst }) =>
          until > now && !isFirst ? [[view, symbol, until] as const] : [],
        ),
      );
  }
}

/** Negative-cached symbols that clients request here, to repeat them in the log for instances that are new. */
export class NegativeHits {
  readonly #max: number;
  /** By view and symbol; with the time of the log record that last repeated each. */
  readonly #hits = new Map<string, { readonly view: string; readonly symbol: string; flushedAt: number }>();

  constructor(max: number) {
    this.#max = max;
  }

  count(view: string, symbol: string): void {
    const key = keyOf(view, symbol);
    if (this.#hits.has(key) || this.#hits.size >= this.#max) return;
    this.#hits.set(key, { view, symbol, flushedAt: 0 });
  }

  /** The log has repeated it. */
  setFlushed(view: string, symbol: string, at: number): void {
    const hit = this.#hits.get(keyOf(view, symbol));
    if (hit) hit.flushedAt = Math.max(hit.flushedAt, at);
  }

  /** Removes and returns the hits that the log repeated longest ago. Requested again, a symbol comes back. */
  flush(max: number): readonly { readonly view: string; readonly symbol: string }[] {
    const hits = [...this.#hits.values()].sort((a, b) => a.flushedAt - b.flushedAt).slice(0, max);
    for (const { view, symbol } of hits) this.#hits.delete(keyOf(view, symbol));
    return hits;
  }
}

const keyOf = (view: string, symbol: string) => `${view}/${symbol}`;
