/** The price in a snapshot of the upstream. */

import { decimalParts } from '../client/decimals.ts';
import { membersOf, textAt } from '../json-scan.ts';

const decoder = new TextDecoder();

/**
 * What the symbol was last traded at in regular hours. What the flags of a snapshot add, such as the price after hours,
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
