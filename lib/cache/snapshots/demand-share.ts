/**
 * How much of what a caller asks for counts as demand. By demand symbols are refreshed, and carried by the market stream:
 * if requests alone counted, one caller with hundreds of symbols could take that from all others.
 */

import { putLatest } from '../../kernel/bounded-map.ts';

/** What a caller asked for so long ago counts a third. */
const forgetMs = 60_000;
/** As many symbols a minute count in full: twenty, each five seconds. What is more is spread over all that the caller asks for. */
const fullPerMinute = 240;
/** Callers that are remembered. */
const maxCallers = 2000;

/** @param perMinute symbols that a caller asks for, each time that it does */
export const demandWeight = (perMinute: number): number => Math.min(1, fullPerMinute / perMinute);

/** The requests of callers to one instance. */
export class DemandShares {
  readonly #asked = new Map<string, { readonly perMinute: number; readonly at: number }>();

  /** What each symbol of a request counts. */
  weigh(caller: string, symbols: number, now: number): number {
    const last = this.#asked.get(caller);
    const before = last ? last.perMinute * Math.exp(-Math.max(0, now - last.at) / forgetMs) : 0;
    const perMinute = before + symbols;
    putLatest(this.#asked, caller, { perMinute, at: now }, maxCallers);
    return demandWeight(perMinute);
  }
}
