/** What a stream of quotes has told, in browsers and Node. */

import type { EventSourceMessage } from 'eventsource-parser/stream';

export interface Quote {
  /** When the gateway asked the upstream for it: `now` of the last event less this is its age. */
  readonly at: number;
  /** As getStockSnapshots answers it: its decimals are texts. */
  readonly record: Readonly<Record<string, unknown>>;
}

interface Told {
  readonly quotes?: readonly {
    symbol: string;
    at: number;
    record?: Quote['record'];
    set?: Quote['record'];
  }[];
  readonly states?: Readonly<Record<string, 'current' | 'stale' | 'unknown' | 'missing'>>;
  readonly at?: Readonly<Record<string, number>>;
}

export class Quotes {
  readonly bySymbol = new Map<string, Quote>();

  /** Returns the symbols of which the event tells something new. */
  take({ event, data }: EventSourceMessage): ReadonlySet<string> {
    const { quotes = [], states = {}, at = {} } = JSON.parse(data) as Told;
    const changed = new Set<string>();
    if (event === 'snapshot') {
      // A connection begins with all that is known: what is not in it is gone.
      for (const symbol of this.bySymbol.keys()) changed.add(symbol);
      this.bySymbol.clear();
    }
    for (const { symbol, at, record, set } of quotes) {
      this.bySymbol.set(symbol, { at, record: record ?? { ...this.bySymbol.get(symbol)?.record, ...set } });
      changed.add(symbol);
    }
    for (const [symbol, state] of Object.entries(states)) {
      if (state === 'unknown' || state === 'missing') this.bySymbol.delete(symbol);
      changed.add(symbol);
    }
    // Records that stayed as they were are as old as this.
    for (const [symbol, seen] of Object.entries(at)) {
      const known = this.bySymbol.get(symbol);
      if (known) this.bySymbol.set(symbol, { ...known, at: seen });
    }
    return changed;
  }
}
