/** Holdings of one account: cash and positions. All money in whole cents. */

import { amountOf, divide, oneShare, type Quantity } from './amounts.ts';
import { type Asset, currentPrice } from './order-asset.ts';

export interface Trade {
  readonly time: number;
  readonly asset: Asset;
  /** Negative for a sale. */
  readonly quantity: Quantity;
  readonly price: number;
  readonly fee: bigint;
}

export interface Position {
  readonly asset: Asset;
  /** Negative for a short position. */
  readonly quantity: Quantity;
  /** Amount paid; negative for the proceeds of a short sale. */
  readonly cost: bigint;
  /** Time at which it was opened. */
  readonly since: number;
}

/** Position at the prices of a moment. */
export interface ValuedPosition extends Position {
  readonly price: number;
  readonly value: bigint;
  readonly profit: bigint;
}

export class Portfolio {
  cash: bigint;
  readonly #positions = new Map<string, Position>();

  constructor(cash: bigint) {
    this.cash = cash;
  }

  quantityOf(asset: Asset): Quantity {
    return this.#positions.get(asset.key)?.quantity ?? 0n;
  }

  apply(trade: Trade): void {
    const { asset, quantity, price, fee, time } = trade;
    this.cash -= signedAmount(asset, price, quantity) + fee;
    const before = this.#positions.get(asset.key) ?? { asset, quantity: 0n, cost: 0n, since: time };
    const after = mergeTrade(before, trade);
    if (after.quantity === 0n) this.#positions.delete(asset.key);
    else this.#positions.set(asset.key, after);
  }

  /** Values every position, oldest first, at the current prices. */
  valued(now: number): readonly ValuedPosition[] {
    return [...this.#positions.values()].map((position) => {
      const price = currentPrice(position.asset, now);
      const value = signedAmount(position.asset, price, position.quantity);
      return { ...position, price, value, profit: value - position.cost };
    });
  }
}

/** Merges a trade into a position at cost; a reduction takes its share of the cost away. */
function mergeTrade(before: Position, { asset, quantity, price, time }: Trade): Position {
  const left = before.quantity + quantity;
  const grows = before.quantity === 0n || before.quantity > 0n === quantity > 0n;
  if (grows) return { ...before, quantity: left, cost: before.cost + signedAmount(asset, price, quantity) };
  const turned = left !== 0n && left > 0n !== before.quantity > 0n;
  // A larger trade closes the position, and opens one in the other direction with the rest.
  if (turned) return { asset, quantity: left, cost: signedAmount(asset, price, left), since: time };
  return { ...before, quantity: left, cost: divide(before.cost * left, before.quantity) };
}

/** Amount in cents; negative for a negative quantity. */
function signedAmount(asset: Asset, price: number, quantity: Quantity): bigint {
  return amountOf(price, quantity, asset.multiplier);
}

/** Fee in cents: 55 for each option contract, and a little for the sale of stock. */
export function feeOf(asset: Asset, quantity: Quantity, price: number, buys: boolean): bigint {
  const size = quantity < 0n ? -quantity : quantity;
  if (asset.kind === 'OPTION') {
    const contracts = asset.legs.reduce(
      (sum, { contract, ratio }) => sum + (contract ? Math.abs(ratio) : 0),
      0,
    );
    return (size * BigInt(55 * contracts)) / oneShare;
  }
  return buys ? 0n : divide(amountOf(price, size, 1) * 278n + 9_999_999n, 10_000_000n);
}
