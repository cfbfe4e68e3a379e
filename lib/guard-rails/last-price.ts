/** The port to last prices, and the price in a record of the upstream. */

import { decimalParts } from '../kernel/decimals.ts';
import { membersOf, textAt } from '../kernel/json-scan.ts';
import { decodeUtf8 } from '../kernel/utf8.ts';
import { largest } from './order.ts';

/** Port to the last prices of symbols. */
export interface LastPrices {
  /**
   * The last price of a symbol; undefined when none is fresh enough and none could be read by `endBy`. Never throws.
   *
   * @param symbol symbol of a stock or a contract, in upper case
   * @param maxAgeMs largest age of the price's record since it was fetched, in milliseconds
   * @param endBy when the answer is needed, in milliseconds since the epoch
   * @param user keyed name of the user whose order needs the price: the read counts against that user's share of the limit
   */
  lastPrice(symbol: string, maxAgeMs: number, endBy: number, user?: string): Promise<LastPrice | undefined>;
}

export interface LastPrice {
  /** A decimal, as the upstream wrote it. */
  readonly price: string;
  /** When the record was fetched from the upstream, in milliseconds since the epoch. */
  readonly at: number;
}

/** Reads the price at which an instrument can be traded from a record of the upstream; undefined where there is none. */
export type PriceIn = (record: Uint8Array) => string | undefined;

/**
 * The price in a snapshot of a stock: its last trade in regular hours. Prices that a snapshot has only with certain flags,
 * such as the price after hours, are ignored: otherwise the result would depend on the flags that a caller happened to set.
 *
 * @param record JSON
 * @returns the price in the upstream's characters; undefined for a snapshot without a price above zero
 *
 * @example
 * priceIn(new TextEncoder().encode('{"symbol":"AAPL","price":"1.10"}')); // '1.10'
 */
export const priceIn: PriceIn = (record) => positivesIn(record, ['price'])[0];

/**
 * The price in a snapshot of an option contract: the highest of last trade, bid and ask, because days may pass between two
 * trades.
 */
export const contractPriceIn: PriceIn = (record) => largest(positivesIn(record, ['price', 'bid', 'ask']));

function positivesIn(record: Uint8Array, names: readonly string[]): readonly string[] {
  const members = membersOf(record, names);
  return names.flatMap((name) => {
    const member = members?.get(name);
    if (!member) return [];
    // The interface text shows prices as texts; a price sent as a number is accepted in the same characters.
    const price = textAt(member, 0) ?? decodeUtf8(member).trim();
    return isPositive(price) ? [price] : [];
  });
}

function isPositive(text: string): boolean {
  try {
    return decimalParts(text).sign === 1;
  } catch {
    return false;
  }
}
