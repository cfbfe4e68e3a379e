/** Orders that belong together: a single order, or the parts of a combination and their effects on each other. */

import type { Quantity } from './amounts.ts';
import type { Fill, LiveOrder, Strike } from './order-life.ts';

/** Types of parts that wait until the master is filled. */
const followerTypes = ['STOP_PROFIT', 'STOP_LOSS', 'OTO', 'OTOCO'];
/** Types of parts of which the first that is struck ends the others. */
const rivalTypes = ['STOP_PROFIT', 'STOP_LOSS', 'OCO', 'OTOCO'];

export const follows = (comboType: string): boolean => followerTypes.includes(comboType);

export interface GroupFill extends Fill {
  readonly order: LiveOrder;
}

/** Fill of an order, or, without a fill, the end of its rest. */
export interface GroupChange {
  readonly order: LiveOrder;
  readonly time: number;
  readonly fill?: Fill;
}

export class OrderGroup {
  /** Rises with each group. */
  readonly sequence: number;
  readonly orders: readonly LiveOrder[];
  readonly comboOrderId: string | undefined;
  readonly clientComboOrderId: string | undefined;
  /** Unix milliseconds before which no read shows the group. */
  readonly visibleAt: number;
  readonly #toldEnds = new Set<LiveOrder>();

  constructor(
    sequence: number,
    orders: readonly LiveOrder[],
    combination: { readonly comboOrderId?: string; readonly clientComboOrderId?: string } = {},
    visibleAfterMs = 0,
  ) {
    this.sequence = sequence;
    this.orders = orders;
    this.comboOrderId = combination.comboOrderId;
    this.clientComboOrderId = combination.clientComboOrderId;
    // Orders that exist from the start are visible at any time of the clock.
    this.visibleAt = visibleAfterMs > 0 ? orders[0]!.stored.placedAt + visibleAfterMs : -Infinity;
  }

  get isOpen(): boolean {
    return this.orders.some((order) => order.isOpen);
  }

  /** Moment before which nothing happens to any of its orders. */
  get wakeAt(): number {
    let wake = Infinity;
    // A waiting order has no moment of its own.
    for (const order of this.orders) if (order.isOpen && !order.waiting) wake = Math.min(wake, order.wakeAt);
    return wake;
  }

  /** Acts on the orders up to `now`. Returns each fill and each end that was not returned before. */
  advance(now: number): readonly GroupChange[] {
    const changes: GroupChange[] = [];
    do {
      this.#strike(now);
      for (const order of this.orders)
        for (const fill of order.newFills(now)) changes.push({ order, time: fill.time, fill });
    } while (this.#wakeFollowers());
    for (const order of this.orders) {
      if (order.endedAt === undefined || this.#toldEnds.has(order)) continue;
      this.#toldEnds.add(order);
      changes.push({ order, time: order.endedAt });
    }
    return changes;
  }

  /** Fills a part of an order now; its rivals end, as when it is struck. */
  fill(order: LiveOrder, quantity: Quantity, now: number): GroupChange {
    this.#endRivals(order, now);
    return { order, time: now, fill: order.fill(quantity, now) };
  }

  #strike(now: number): void {
    const looking = this.orders.filter(({ isOpen, waiting, struck }) => isOpen && !waiting && !struck);
    const strikes: { readonly order: LiveOrder; readonly strike: Strike }[] = [];
    for (const order of looking) {
      const strike = order.findStrike(now);
      if (strike) strikes.push({ order, strike });
    }
    strikes.sort((a, b) => a.strike.time - b.strike.time);
    for (const { order, strike } of strikes) {
      if (order.endedAt !== undefined) continue;
      order.struck = strike;
      this.#endRivals(order, strike.time);
    }
    for (const order of looking)
      if (order.isOpen && !order.struck && order.expiry <= now) order.endedAt = order.expiry;
  }

  #endRivals(order: LiveOrder, time: number): void {
    if (!isRival(order)) return;
    for (const other of this.orders)
      if (other !== order && isRival(other) && other.isOpen) other.endedAt = time;
  }

  /** Returns true when a waiting order became active. */
  #wakeFollowers(): boolean {
    const master = this.#master;
    if (!master || master.isOpen) return false;
    let woke = false;
    for (const order of this.orders) {
      if (!order.waiting || !order.isOpen) continue;
      if (master.endedAt !== undefined) order.endedAt = master.endedAt;
      else {
        order.activate(master.fills.at(-1)!.time);
        woke = true;
      }
    }
    return woke;
  }

  /** Tells whether an order can no longer be found: its master ended before any fill. */
  hasDropped(order: LiveOrder): boolean {
    const master = this.#master;
    return master !== undefined && order !== master && master.endedAt !== undefined && master.filled === 0n;
  }

  get #master(): LiveOrder | undefined {
    return this.orders.find(({ stored }) => stored.order.combo_type === 'MASTER');
  }

  /** Tells whether the master is done, so that the other parts are changed one by one. */
  get isPastMaster(): boolean {
    return this.#master !== undefined && !this.#master.isOpen;
  }

  /** Cancels open orders. Fills stay; parts that wait for a cancelled master end with it. */
  cancel(orders: readonly LiveOrder[], now: number): void {
    for (const order of orders) if (order.isOpen) order.endedAt = now;
  }
}

const isRival = ({ stored }: LiveOrder) => rivalTypes.includes(stored.order.combo_type);
