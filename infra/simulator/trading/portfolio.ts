/** What one account holds: cash, positions, and what was traded. All money in whole cents. */

import { dayOf, timeOf } from '../market/calendar.ts';
import { amountOf, divide, oneShare, type Quantity } from './amounts.ts';
import { type Asset, currentPrice } from './order-asset.ts';

export interface Trade {
  readonly time: number;
  readonly asset: Asset;
  /** Negative for what was sold. */
  readonly quantity: Quantity;
  readonly price: number;
  readonly fee: bigint;
}

export interface Position {
  readonly asset: Asset;
  /** Negative when more was sold than there was. */
  readonly quantity: Quantity;
  /** What was paid for it; negative for what a short sale brought. */
  readonly cost: bigint;
  /** When it was opened. */
  readonly since: number;
}

/** A position at the prices of a moment. */
export interface Valued extends Position {
  readonly price: number;
  readonly value: bigint;
  readonly profit: bigint;
}

export class Portfolio {
  cash: bigint;
  readonly #positions = new Map<string, Position>();
  readonly #trades: Trade[] = [];

  constructor(cash: bigint) {
    this.cash = cash;
  }

  quantityOf(asset: Asset): Quantity {
    return this.#positions.get(asset.key)?.quantity ?? 0n;
  }

  apply(trade: Trade): void {
    const { asset, quantity, price, fee, time } = trade;
    this.#trades.push(trade);
    this.cash -= signedAmount(asset, price, quantity) + fee;
    const before = this.#positions.get(asset.key) ?? { asset, quantity: 0n, cost: 0n, since: time };
    const after = merged(before, trade);
    if (after.quantity === 0n) this.#positions.delete(asset.key);
    else this.#positions.set(asset.key, after);
  }

  /** Every position, oldest first, at what it is worth now. */
  valued(now: number): readonly Valued[] {
    return [...this.#positions.values()].map((position) => {
      const price = currentPrice(position.asset, now);
      const value = signedAmount(position.asset, price, position.quantity);
      return { ...position, price, value, profit: value - position.cost };
    });
  }

  /** How much more the holdings are worth than at the day's start, with what was traded since. */
  profitOfDay(now: number): bigint {
    const start = timeOf(dayOf(now));
    const today = this.#trades.filter(({ time }) => time >= start);
    let profit = 0n;
    const held = new Map<string, { readonly asset: Asset; readonly quantity: Quantity }>(this.#positions);
    for (const { asset, quantity, price } of today) {
      profit -= signedAmount(asset, price, quantity);
      const now = held.get(asset.key)?.quantity ?? 0n;
      held.set(asset.key, { asset, quantity: now - quantity });
    }
    for (const { value } of this.valued(now)) profit += value;
    // What is left after taking the day's trades back was there when the day began.
    for (const { asset, quantity } of held.values())
      profit -= signedAmount(asset, asset.price({ day: dayOf(now) - 1, minute: 1440 }), quantity);
    return profit;
  }
}

/** Adds at cost; what is taken away takes its share of the cost with it. */
function merged(before: Position, { asset, quantity, price, time }: Trade): Position {
  const left = before.quantity + quantity;
  const grows = before.quantity === 0n || before.quantity > 0n === quantity > 0n;
  if (grows) return { ...before, quantity: left, cost: before.cost + signedAmount(asset, price, quantity) };
  const turned = left !== 0n && left > 0n !== before.quantity > 0n;
  // More than there was: the position is closed, and one the other way is opened with the rest.
  if (turned) return { asset, quantity: left, cost: signedAmount(asset, price, left), since: time };
  return { ...before, quantity: left, cost: divide(before.cost * left, before.quantity) };
}

/** In cents; negative for a negative quantity. */
export function signedAmount(asset: Asset, price: number, quantity: Quantity): bigint {
  return amountOf(price, quantity, asset.multiplier);
}

/** What trading costs beside the price: 55 cents for each option contract, and a little of stock sold. */
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
