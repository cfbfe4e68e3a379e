/** What a symbol was last traded at. */

import { decimalParts } from '../kernel/decimals.ts';
import { membersOf, textAt } from '../kernel/json-scan.ts';
import { largest } from './order.ts';

/** Port. */
export interface LastPrices {
  /**
   * Undefined when none is known that is fresh enough, and none could be read by then; it never throws.
   *
   * @param symbol of a stock or a contract, in upper case
   * @param maxAgeMs how long ago its record may have been fetched, in milliseconds
   * @param endBy when the answer is needed, in milliseconds since the epoch
   * @param user the keyed name of whose order it is for: reads for that one leave enough of the upstream's limit to others
   */
  lastPrice(symbol: string, maxAgeMs: number, endBy: number, user?: string): Promise<LastPrice | undefined>;
}

export interface LastPrice {
  /** A decimal, as the upstream wrote it. */
  readonly price: string;
  /** When it was fetched from the upstream, in milliseconds since the epoch. */
  readonly at: number;
}

const decoder = new TextDecoder();

/** What a record of the upstream says of the price at which something can be bought or sold; undefined for nothing. */
export type PriceIn = (record: Uint8Array) => string | undefined;

/**
 * The price in a snapshot of a stock: what the symbol was last traded at in regular hours. What the flags of a snapshot add, such as the price after hours,
 * is not looked at: then the price would depend on the flags that a caller happened to set.
 *
 * @param record JSON
 * @returns the characters of the upstream; undefined for a snapshot without a price above zero
 *
 * @example
 * priceIn(new TextEncoder().encode('{"symbol":"AAPL","price":"1.10"}')); // '1.10'
 */
export const priceIn: PriceIn = (record) => positivesIn(record, ['price'])[0];

/**
 * The same of an option contract, of which days may pass between two trades: the highest of what it was last traded at, and
 * of what is offered and asked for it now.
 */
export const contractPriceIn: PriceIn = (record) => largest(positivesIn(record, ['price', 'bid', 'ask']));

function positivesIn(record: Uint8Array, names: readonly string[]): readonly string[] {
  const members = membersOf(record, names);
  return names.flatMap((name) => {
    const member = members?.get(name);
    if (!member) return [];
    // The interface text writes a text. A number would be one with the same characters.
    const price = textAt(member, 0) ?? decoder.decode(member).trim();
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
