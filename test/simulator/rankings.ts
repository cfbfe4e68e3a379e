/** What the tests of rankings look at. */

import assert from 'node:assert/strict';
import { type Json, play } from './player.ts';

export const player = play();
export const stocks = { category: 'US_STOCK' };

/** Every one that is ranked: those that are traded actively. */
export const everyStock = player.world.universe
  .active()
  .filter(({ category }) => category === 'US_STOCK')
  .map(({ symbol }) => symbol);

/** By symbol. */
export function snapshotsOf(symbols: readonly string[]): Map<string, Json> {
  const found = new Map<string, Json>();
  for (let at = 0; at < symbols.length; at += 100) {
    const asked = { symbols: symbols.slice(at, at + 100).join(','), ...stocks };
    for (const one of player.ask('getStockSnapshots', asked)) found.set(one.symbol, one);
  }
  return found;
}

/** Each record is at least as far as the one after it. */
export function assertSorted(values: readonly number[], direction: 'ASC' | 'DESC'): void {
  for (let at = 1; at < values.length; at++)
    assert.ok(
      direction === 'DESC' ? values[at - 1]! >= values[at]! : values[at - 1]! <= values[at]!,
      `${values[at - 1]} before ${values[at]}`,
    );
}
