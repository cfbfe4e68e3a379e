/**
 * Demand of streams: a stream counts like a client that polls its symbols. A caller with many streams counts no more than
 * other callers.
 */

import { demandWeight, type View } from '../cache/snapshots/index.ts';

/** Requests a minute for which a stream counts: one in five seconds. */
const perMinute = 12;

export class FollowedDemand {
  /** Number of symbols that a caller's streams follow, summed over the streams. */
  readonly #followed = new Map<string, number>();
  /** Number of streams that follow a symbol, by view and symbol, and by caller. */
  readonly #streams = new Map<string, Map<string, number>>();

  /** Passes a stream's texts on; its caller follows the symbols until they end. */
  async *during(
    texts: AsyncIterable<string>,
    {
      caller,
      view,
      symbols,
    }: { readonly caller: string; readonly view: View; readonly symbols: readonly string[] },
  ): AsyncGenerator<string, void> {
    const keys = [...new Set(symbols)].map((symbol) => keyOf(view, symbol));
    this.#add(caller, keys, 1);
    try {
      yield* texts;
    } finally {
      this.#add(caller, keys, -1);
    }
  }

  /** Number of requests for a symbol that its streams count for at each count. */
  of(view: View, symbol: string): number {
    let times = 0;
    for (const [caller, streams] of this.#streams.get(keyOf(view, symbol)) ?? [])
      times += streams * demandWeight(perMinute * (this.#followed.get(caller) ?? 0));
    return times;
  }

  #add(caller: string, keys: readonly string[], streams: 1 | -1): void {
    addCount(this.#followed, caller, streams * keys.length);
    for (const key of keys) {
      const callers = this.#streams.get(key) ?? new Map<string, number>();
      addCount(callers, caller, streams);
      if (callers.size > 0) this.#streams.set(key, callers);
      else this.#streams.delete(key);
    }
  }
}

function addCount(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

const keyOf = ({ id }: View, symbol: string): string => `${id} ${symbol}`;
