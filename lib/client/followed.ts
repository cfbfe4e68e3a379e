/** Latest state of the symbols that a client follows, built from the events of a stream. */

import { parseJson } from '../kernel/parse-json.ts';
import type { ServerSent } from './server-sent.ts';

/**
 * - `current`: the record is as fresh as the gateway promises.
 * - `stale`: the record is older; the upstream could not be asked meanwhile.
 * - `unknown`: the upstream does not know the symbol.
 * - `missing`: there is no record that is young enough to be shown.
 */
export type QuoteState = 'current' | 'stale' | 'unknown' | 'missing';

export interface FollowedQuote<R> {
  readonly symbol: string;
  readonly state: QuoteState;
  /** The record as in a snapshot of the symbol; decimals are texts. */
  readonly record?: R;
  /** When the gateway asked the upstream for the record, by the gateway's clock, in milliseconds since the epoch. */
  readonly at?: number;
}

/** A quote in an event: the whole record, or the members that changed. */
interface ToldQuote {
  readonly symbol: string;
  readonly at: number;
  readonly record?: object;
  readonly set?: object;
}

interface FollowedMessage {
  readonly now?: number;
  readonly quotes?: readonly ToldQuote[];
  readonly states?: Readonly<Record<string, QuoteState>>;
  readonly cause?: string;
  /** New times of records that are unchanged, by symbol. */
  readonly at?: Readonly<Record<string, number>>;
  readonly reason?: string;
  readonly retry_after_ms?: number;
}

export class Quotes<R> {
  readonly #clock: () => number;
  #bySymbol = new Map<string, FollowedQuote<R>>();
  /**
   * Lead of the gateway's clock over this one, by the event of this connection that was read with the least delay: a delay
   * makes the lead too small. The next connection measures anew, because the client's clock may be set.
   */
  #aheadMs = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get bySymbol(): ReadonlyMap<string, FollowedQuote<R>> {
    return this.#bySymbol;
  }

  /** Milliseconds since the upstream was asked for the record; undefined without one. */
  ageMs(symbol: string): number | undefined {
    const at = this.#bySymbol.get(symbol)?.at;
    return at === undefined ? undefined : Math.max(0, this.#clock() + this.#aheadMs - at);
  }

  /** Applies an event. @returns its message, and the symbols about which it has news */
  take({ event, data }: ServerSent): {
    readonly message: FollowedMessage;
    readonly changed: ReadonlySet<string>;
  } {
    const message = parseJson(data) as FollowedMessage;
    const changed = new Set<string>();
    if (message.now !== undefined) {
      const aheadMs = message.now - this.#clock();
      this.#aheadMs = event === 'snapshot' ? aheadMs : Math.max(this.#aheadMs, aheadMs);
    }
    // A connection begins with every known record: those of an earlier connection may be wrong by now.
    if (event === 'snapshot') this.#bySymbol = new Map();
    const put = (symbol: string, more: Partial<FollowedQuote<R>>, isNews = true) => {
      const known = this.#bySymbol.get(symbol) ?? { symbol, state: 'current' as const };
      this.#bySymbol.set(symbol, { ...known, ...more });
      if (isNews) changed.add(symbol);
    };
    for (const { symbol, at, record, set } of message.quotes ?? []) {
      const known = this.#bySymbol.get(symbol)?.record;
      put(symbol, { at, record: (record ?? { ...known, ...set }) as R });
    }
    for (const [symbol, state] of Object.entries(message.states ?? {})) {
      // Drops a record that may not be shown any more.
      if (state === 'unknown' || state === 'missing') this.#bySymbol.delete(symbol);
      put(symbol, { state });
    }
    for (const [symbol, at] of Object.entries(message.at ?? {})) put(symbol, { at }, false);
    return { message, changed };
  }
}
