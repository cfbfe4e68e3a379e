/** How much what streams follow is in demand: as what their callers poll, one with many streams no more than others. */

import { demandWeight, type View } from '../cache/snapshots/index.ts';

/** Each stream counts as one request in five seconds. */
const perMinute = 12;

export class FollowedDemand {
  /** How many symbols the streams of a caller follow, each stream's for itself. */
  readonly #followed = new Map<string, number>();
  /** By view and symbol, how many streams of each caller follow it. */
  readonly #streams = new Map<string, Map<string, number>>();

  /** The texts of a stream: while they are taken, its caller follows the symbols. */
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

  /** For how many requests of a symbol its streams count, each time that they do. */
  of(view: View, symbol: string): number {
    let times = 0;
    for (const [caller, streams] of this.#streams.get(keyOf(view, symbol)) ?? [])
      times += streams * demandWeight(perMinute * (this.#followed.get(caller) ?? 0));
    return times;
  }

  #add(caller: string, keys: readonly string[], streams: 1 | -1): void {
    add(this.#followed, caller, streams * keys.length);
    for (const key of keys) {
      const callers = this.#streams.get(key) ?? new Map<string, number>();
      add(callers, caller, streams);
      if (callers.size > 0) this.#streams.set(key, callers);
      else this.#streams.delete(key);
    }
  }
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

const keyOf = ({ id }: View, symbol: string): string => `${id} ${symbol}`;
