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
