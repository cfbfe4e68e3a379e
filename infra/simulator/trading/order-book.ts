/** Orders that the simulated upstream keeps. */

import { hashOf, identifier, mix } from '../random.ts';
import type { Quantity } from './amounts.ts';
import { type GroupChange, type GroupFill, OrderGroup } from './order-group.ts';
import type { LiveOrder, Status } from './order-life.ts';
import type { NewOrder, StoredOrder } from './stored-order.ts';

/** Kinds of change to an order, as the upstream's events name them. */
export type Scene =
  | 'FILLED'
  | 'FINAL_FILLED'
  | 'PLACE_FAILED'
  | 'MODIFY_SUCCESS'
  | 'MODIFY_FAILED'
  | 'CANCEL_SUCCESS'
  | 'CANCEL_FAILED';

/** Change of an order that the book had accepted, with the order's state at that moment. */
export interface BookChange {
  readonly scene: Scene;
  readonly time: number;
  readonly order: LiveOrder;
  readonly status: Status;
  /** Total up to this moment. */
  readonly filled: Quantity;
}

export interface FoundOrder {
  readonly group: OrderGroup;
  readonly order: LiveOrder;
}

export class OrderBook {
  readonly #noise: number;
  readonly #onFill: (fill: GroupFill) => void;
  readonly #byClientId = new Map<string, FoundOrder>();
  readonly #groups = new Map<string, OrderGroup[]>();
  /** Open groups, and when to look at each next, because most orders only rest. */
  readonly #open = new Map<OrderGroup, number>();
  #past = 0;
  #identifiers = 0;
  #sequence = 0;
  readonly #failing = new Set<LiveOrder>();
  /** Milliseconds for which no read shows an added order; changes of orders find it at once. */
  visibleAfterMs = 0;
  #observer: (change: BookChange) => void = () => {};

  /** `onFill` is called for every fill, in the order of time. */
  constructor(seed: number, onFill: (fill: GroupFill) => void) {
    this.#noise = hashOf(seed, 'orders');
    this.#onFill = onFill;
  }

  /** Lists every order that was placed, oldest first, without those that existed from the start. */
  get all(): readonly StoredOrder[] {
    return [...this.#byClientId.values()].slice(this.#past).map(({ order }) => order.stored);
  }

  /** Finds an order; undefined also for the parts of a combination that ended with its master. */
  find(accountId: string, clientOrderId: string): FoundOrder | undefined {
    const found = this.#byClientId.get(keyOf(accountId, clientOrderId));
    return found?.group.hasDropped(found.order) ? undefined : found;
  }

  /** Finds an order as reads do. */
  findVisible(accountId: string, clientOrderId: string, now: number): FoundOrder | undefined {
    const found = this.find(accountId, clientOrderId);
    return found && found.group.visibleAt <= now ? found : undefined;
  }

  /** Tells whether an order was ever placed under this id. */
  knows(accountId: string, clientOrderId: string): boolean {
    return this.#byClientId.has(keyOf(accountId, clientOrderId));
  }

  /** Lists the groups of one account that reads show, newest first. */
  groupsOf(accountId: string, now: number): readonly OrderGroup[] {
    return (this.#groups.get(accountId) ?? []).filter(({ visibleAt }) => visibleAt <= now).toReversed();
  }

  /** Lists the open orders of one account. */
  openOf(accountId: string): readonly LiveOrder[] {
    const found: LiveOrder[] = [];
    for (const { orders } of this.#open.keys())
      if (orders[0]!.stored.accountId === accountId)
        for (const order of orders) if (order.isOpen) found.push(order);
    return found;
  }

  add(
    orders: readonly LiveOrder[],
    combination: { readonly comboOrderId?: string; readonly clientComboOrderId?: string } = {},
  ): OrderGroup {
    const group = new OrderGroup(++this.#sequence, orders, combination, this.visibleAfterMs);
    const { accountId } = orders[0]!.stored;
    const ofAccount = this.#groups.get(accountId) ?? [];
    ofAccount.push(group);
    this.#groups.set(accountId, ofAccount);
    for (const order of orders)
      this.#byClientId.set(keyOf(accountId, order.stored.clientOrderId), { group, order });
    this.#open.set(group, 0);
    return group;
  }

  /** Calls `observer` for every change from now on, in the order of time. */
  observe(observer: (change: BookChange) => void): void {
    this.#observer = observer;
  }

  /** Replaces the terms of an order's unfilled part, unless its next change is to fail. */
  replace({ group, order }: FoundOrder, terms: NewOrder, total: Quantity, now: number): void {
    const fails = this.#failing.delete(order);
    if (!fails) order.replace(terms, total, now);
    this.#tell(fails ? 'MODIFY_FAILED' : 'MODIFY_SUCCESS', order, now);
    this.#look(group, now);
  }

  /** Cancels the open ones among some orders of a group, unless the next change of the named one is to fail. */
  cancel({ group, order }: FoundOrder, orders: readonly LiveOrder[], now: number): void {
    if (this.#failing.delete(order)) this.#tell('CANCEL_FAILED', order, now);
    else group.cancel(orders, now);
    this.#look(group, now);
  }

  /** Fills a part of an open order now. */
  fill({ group, order }: FoundOrder, quantity: Quantity, now: number): void {
    this.#happen(group.fill(order, quantity, now));
    this.#look(group, now);
  }

  /** Fails the placement of an order that was accepted. */
  fail({ group, order }: FoundOrder, now: number): void {
    order.hasFailed = true;
    group.cancel([order], now);
    this.#look(group, now);
  }

  /** Accepts the next replacement or cancellation of an order without executing it. */
  failNextChange({ order }: FoundOrder): void {
    this.#failing.add(order);
  }

  #look(group: OrderGroup, now: number): void {
    this.#open.set(group, 0);
    this.settle(now);
  }

  /** Lets the market act on every open order up to `now`. */
  settle(now: number): void {
    const changes: GroupChange[] = [];
    for (const [group, wakeAt] of this.#open) {
      // Nothing more happens to a group within the moment in which it was looked at.
      if (wakeAt > now) continue;
      changes.push(...group.advance(now));
      if (group.isOpen) this.#open.set(group, Math.max(group.wakeAt, now + 1));
      else this.#open.delete(group);
    }
    changes.sort((a, b) => a.time - b.time);
    for (const change of changes) this.#happen(change);
  }

  #happen({ order, time, fill }: GroupChange): void {
    if (fill) {
      this.#onFill({ ...fill, order });
      this.#tell(filledUpTo(order, time) === order.total ? 'FINAL_FILLED' : 'FILLED', order, time);
    } else this.#tell(order.hasFailed ? 'PLACE_FAILED' : 'CANCEL_SUCCESS', order, time);
  }

  /** Reports the order as it was at that moment: more may have happened since. */
  #tell(scene: Scene, order: LiveOrder, time: number): void {
    const status = scene === 'FILLED' ? 'PARTIAL_FILLED' : order.status;
    this.#observer({ scene, time, order, status, filled: filledUpTo(order, time) });
  }

  /** Marks the orders that were added so far as past; `all` leaves them out. */
  endPast(): void {
    this.#past = this.#byClientId.size;
  }

  /** Makes the next order or combination identifier; the sequence follows from the seed. */
  nextIdentifier(): string {
    return identifier(mix(this.#noise, this.#identifiers++), 26);
  }
}

const filledUpTo = ({ fills }: LiveOrder, time: number): Quantity =>
  fills.reduce((sum, fill) => (fill.time > time ? sum : sum + fill.quantity), 0n);

function keyOf(accountId: string, clientOrderId: string): string {
  return JSON.stringify([accountId, clientOrderId]);
}
