/**
 * Life of an order, computed only when it is read. The market strikes it once its price comes, at that price; half of it is
 * filled two seconds later, and the rest after another two.
 */

import { dayOf, timeOf } from '../market/calendar.ts';
import { momentAt } from '../market/prices.ts';
import { oneShare, type Quantity } from './amounts.ts';
import { type Asset, centsOf, costOf, currentPrice, priceAskedFor } from './order-asset.ts';
import type { NewOrder, StoredOrder } from './stored-order.ts';

const partlyAfterMs = 2000;
const filledAfterMs = 4000;

export interface Fill {
  readonly time: number;
  readonly quantity: Quantity;
  /** Price in cents. */
  readonly price: number;
}

export interface Strike {
  readonly time: number;
  readonly price: number;
}

export type Status = 'PENDING' | 'SUBMITTED' | 'CANCELLED' | 'FILLED' | 'PARTIAL_FILLED' | 'FAILED';

export class LiveOrder {
  readonly stored: StoredOrder;
  readonly asset: Asset;
  /** 1 for a buy order. */
  readonly sign: 1 | -1;
  /** Terms as placed, with later replacements. */
  terms: NewOrder;
  total: Quantity;
  readonly fills: Fill[] = [];
  struck: Strike | undefined;
  /** Time at which it was cancelled, expired or failed. */
  endedAt: number | undefined;
  /** Set when an accepted order was not placed after all. */
  hasFailed = false;
  /** Whether it waits for another order to be filled first. */
  waiting: boolean;

  /** Moment from which on prices count; the first price is the one that snapshots show. */
  #since: number;
  #checkedUntil: number | undefined;
  /** Whether the stop price was reached. */
  #stopped = false;
  /** Best price since the order began to trail. */
  #best: number | undefined;
  #held: { readonly price: number; readonly rest: Quantity; readonly cost: bigint } | undefined;

  constructor(stored: StoredOrder, asset: Asset, total: Quantity, waiting: boolean) {
    this.stored = stored;
    this.asset = asset;
    this.sign = stored.order.side === 'BUY' ? 1 : -1;
    this.terms = stored.order;
    this.total = total;
    this.waiting = waiting;
    this.#since = stored.placedAt;
  }

  get filled(): Quantity {
    return this.fills.reduce((sum, fill) => sum + fill.quantity, 0n);
  }

  get rest(): Quantity {
    return this.isOpen ? this.total - this.filled : 0n;
  }

  get isOpen(): boolean {
    return this.endedAt === undefined && this.filled < this.total;
  }

  get status(): Status {
    if (this.hasFailed) return 'FAILED';
    if (this.endedAt !== undefined) return 'CANCELLED';
    if (!this.isOpen) return 'FILLED';
    if (this.filled > 0n) return 'PARTIAL_FILLED';
    return this.waiting ? 'PENDING' : 'SUBMITTED';
  }

  /** Moment at which the order expires. */
  get expiry(): number {
    const { time_in_force: inForce, expire_date: date } = this.terms;
    const { placedAt } = this.stored;
    const dayAfter = (day: number) => timeOf(day + 1);
    if (inForce === 'DAY') return Math.min(dayAfter(dayOf(placedAt)), this.asset.until);
    if (inForce === 'GTD' && date !== undefined) return dayAfter(dayOf(Date.parse(`${date}T00:00:00Z`)));
    return inForce === 'GTC' ? this.asset.until : placedAt;
  }

  /** Moment before which nothing happens: the next fill, or the expiry; 0 when any price may strike the order. */
  get wakeAt(): number {
    if (this.struck) {
      const isHalfFilled = this.fills.some((fill) => fill.time > this.struck!.time);
      return this.struck.time + (isHalfFilled ? filledAfterMs : partlyAfterMs);
    }
    return this.#checkedUntil !== undefined && this.#isOutOfReach() ? this.expiry : 0;
  }

  /** Cents that a buy order may still cost: at its own price, or at the market's. */
  heldBack(now: number): bigint {
    if (this.sign < 0 || !this.isOpen) return 0n;
    const price = this.struck?.price ?? priceAskedFor(this, now);
    const rest = this.total - this.filled;
    // Cached, because this is asked again and again for resting orders.
    if (this.#held?.price !== price || this.#held.rest !== rest)
      this.#held = { price, rest, cost: costOf(this.asset, rest, price) };
    return this.#held.cost;
  }

  /** Makes prices count from `time` on. */
  activate(time: number): void {
    this.waiting = false;
    this.#since = time;
    this.#checkedUntil = undefined;
  }

  /** Replaces the terms of the unfilled part: an execution under way ends, and prices count anew. */
  replace(terms: NewOrder, total: Quantity, now: number): void {
    this.terms = terms;
    this.total = total;
    this.struck = undefined;
    this.#stopped = false;
    this.#best = undefined;
    if (!this.waiting) this.activate(now);
  }

  /** Finds the moment at which the order's price came, if it did by `now`. Looks at each moment once. */
  findStrike(now: number): Strike | undefined {
    const until = Math.min(now, this.expiry);
    if (this.#checkedUntil === undefined) {
      // A new order meets the price that the market shows.
      const price = currentPrice(this.asset, this.#since);
      this.#checkedUntil = this.#since;
      if (this.#meets(price, true)) return { time: this.#since, price };
    }
    const from = this.#checkedUntil;
    if (until <= from) return undefined;
    this.#checkedUntil = until;
    if (this.#isOutOfReach()) return undefined;
    return this.#scan(from, until);
  }

  /** Looks minute by minute, because between two whole minutes the price only rises or only falls. */
  #scan(from: number, until: number): Strike | undefined {
    let before = from;
    while (before < until) {
      const time = Math.min(until, (Math.floor(before / 60_000) + 1) * 60_000);
      if (this.#meets(this.#priceAt(time), false)) {
        const met = this.#firstMet(before, time);
        // A stop that turned into a limit order goes on from the moment when it was reached.
        if (this.#meets(this.#priceAt(met), true)) return { time: met, price: this.#priceAt(met) };
        before = met;
        continue;
      }
      this.#meets(this.#priceAt(time), true);
      before = time;
    }
    return undefined;
  }

  /** Finds the first millisecond after `before` with the order's price, if `time` has it. */
  #firstMet(before: number, time: number): number {
    let [not, met] = [before, time];
    while (met - not > 1) {
      const middle = Math.floor((not + met) / 2);
      if (this.#meets(this.#priceAt(middle), false)) met = middle;
      else not = middle;
    }
    return met;
  }

  #priceAt(time: number): number {
    return this.asset.price(momentAt(time));
  }

  /** Tells whether a price strikes the order; for a stop with a limit, whether the stop was reached before. */
  #meets(price: number, remember: boolean): boolean {
    const { order_type: type } = this.terms;
    const { sign } = this;
    switch (type) {
      case 'LIMIT':
      case 'LIMIT_ON_OPEN':
        return sign * price <= sign * centsOf(this.terms.limit_price);
      case 'STOP_LOSS':
        return sign * price >= sign * centsOf(this.terms.stop_price);
      case 'STOP_LOSS_LIMIT': {
        const stops = sign * price >= sign * centsOf(this.terms.stop_price);
        if (!this.#stopped && !remember) return stops;
        this.#stopped ||= stops;
        return this.#stopped && sign * price <= sign * centsOf(this.terms.limit_price);
      }
      case 'TRAILING_STOP_LOSS': {
        const best = this.#best ?? price;
        const step = centsOf(this.terms.trailing_stop_step);
        const distance = this.terms.trailing_type === 'PERCENTAGE' ? (best * step) / 10_000 : step;
        if (sign * price >= sign * best + distance) return true;
        if (remember) this.#best = sign > 0 ? Math.min(best, price) : Math.max(best, price);
        return false;
      }
      default:
        // The simulated market never closes, so orders on open and on close execute at once.
        return true;
    }
  }

  /** Tells whether no price of the asset can ever reach the limit, so that looking is needless. */
  #isOutOfReach(): boolean {
    if (this.terms.order_type !== 'LIMIT') return false;
    const limit = centsOf(this.terms.limit_price);
    return this.sign > 0 ? limit < this.asset.bounds.low : limit > this.asset.bounds.high;
  }

  /** Fills a part at the market's current price, not at the order's own. */
  fill(quantity: Quantity, now: number): Fill {
    const fill = { time: now, quantity, price: currentPrice(this.asset, now) };
    this.fills.push(fill);
    return fill;
  }

  /** Returns the fills that came up to `now` and were not returned before. */
  newFills(now: number): readonly Fill[] {
    if (!this.struck || !this.isOpen) return [];
    const { time, price } = this.struck;
    const found: Fill[] = [];
    const rest = this.total - this.filled;
    const half = this.terms.time_in_force === 'FOK' ? 0n : rest - (rest / 2n / oneShare) * oneShare;
    const isHalfFilled = this.fills.some((fill) => fill.time > time);
    if (!isHalfFilled && half > 0n && half < rest && now >= time + partlyAfterMs)
      found.push({ time: time + partlyAfterMs, quantity: half, price });
    if (now >= time + filledAfterMs)
      found.push({ time: time + filledAfterMs, quantity: rest - (found[0]?.quantity ?? 0n), price });
    this.fills.push(...found);
    return found;
  }
}
