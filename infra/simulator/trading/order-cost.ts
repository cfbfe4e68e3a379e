/** What an order is reckoned at: before it is filled, and on the average of its fills. */

import { amountOf, decimalText, divide, dollarText, type Quantity } from './amounts.ts';
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

/** Of fills that are not nothing, by their quantity: in dollars, with four decimals where cents are not exact. */
export function averagePrice(
  fills: readonly { readonly quantity: Quantity; readonly price: number }[],
): string {
  const quantity = fills.reduce((total, fill) => total + fill.quantity, 0n);
  const sum = fills.reduce((total, fill) => total + BigInt(fill.price) * fill.quantity, 0n);
  const tenThousandths = divide(sum * 100n, quantity);
  return tenThousandths % 100n === 0n ? dollarText(tenThousandths / 100n) : decimalText(tenThousandths, 4);
}
