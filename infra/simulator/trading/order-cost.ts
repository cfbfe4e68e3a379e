/** What an order is reckoned at before it is filled. */

import { amountOf, type Quantity } from './amounts.ts';
import { type Asset, currentPrice } from './order-asset.ts';
import type { NewOrder } from './stored-order.ts';

/** In cents; never less than nothing: what options bring in is not spent before it is there. */
export function costOf(asset: Asset, quantity: Quantity, price: number): bigint {
  const cost = amountOf(price, quantity, asset.multiplier);
  return cost > 0n ? cost : 0n;
}

/** In cents: the order's own price, or the one that snapshots show. */
export function priceAskedFor(
  { terms, asset }: { readonly terms: NewOrder; readonly asset: Asset },
  now: number,
): number {
  const own = terms.limit_price ?? terms.stop_price;
  return own === undefined ? currentPrice(asset, now) : Math.round(centsOf(own));
}

/** To compare prices with; hundredths of a cent are the finest that counts. */
export function centsOf(dollars: string | undefined): number {
  return Math.round(Number(dollars ?? Number.NaN) * 10_000) / 100;
}
