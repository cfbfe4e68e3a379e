/** What a symbol was last traded at. */

import { decimalParts } from '../client/decimals.ts';
import { membersOf, textAt } from '../json-scan.ts';

/** Port. */
export interface LastPrices {
  /**
   * Undefined when none is known that is fresh enough, and none could be read by then; it never throws.
   *
   * @param symbol of a stock, in upper case
   * @param maxAgeMs how long ago its record may have been fetched, in milliseconds
   * @param endBy when the answer is needed, in milliseconds since the epoch
   */
  lastPrice(symbol: string, maxAgeMs: number, endBy: number): Promise<LastPrice | undefined>;
}

export interface LastPrice {
  /** A decimal, as the upstream wrote it. */
  readonly price: string;
  /** When it was fetched from the upstream, in milliseconds since the epoch. */
  readonly at: number;
}

const decoder = new TextDecoder();

/**
 * The price in a snapshot of the upstream: what the symbol was last traded at in regular hours. What the flags of a snapshot add, such as the price after hours,
 * is not looked at: then the price would depend on the flags that a caller happened to set.
 *
 * @param record JSON
 * @returns the characters of the upstream; undefined for a snapshot without a price above zero
 *
 * @example
 * priceIn(new TextEncoder().encode('{"symbol":"AAPL","price":"1.10"}')); // '1.10'
 */
export function priceIn(record: Uint8Array): string | undefined {
  const member = membersOf(record, ['price'])?.get('price');
  if (!member) return undefined;
  // The interface text writes a text. A number would be one with the same characters.
  const price = textAt(member, 0) ?? decoder.decode(member).trim();
  return isPositive(price) ? price : undefined;
}

function isPositive(text: string): boolean {
  try {
    return decimalParts(text).sign === 1;
  } catch {
    return false;
  }
}
