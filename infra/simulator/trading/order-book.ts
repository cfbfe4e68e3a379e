/** The orders that the simulated upstream holds. */

import { hashOf, identifier, mix } from '../random.ts';
import { type GroupFill, OrderGroup } from './order-group.ts';
import type { LiveOrder } from './order-life.ts';
import type { StoredOrder } from './stored-order.ts';

export interface Found {
  readonly group: OrderGroup;
  readonly order: LiveOrder;
}

export class OrderBook {
  readonly #noise: number;
  readonly #onFill: (fill: GroupFill) => void;
  readonly #byClientId = new Map<string, Found>();
  readonly #groups = new Map<string, OrderGroup[]>();
  /** Those that are open, and when each is to be looked at next: most orders only rest. */
  readonly #open = new Map<OrderGroup, number>();
  #past = 0;
  #identifiers = 0;
  #sequence = 0;

  /** `onFill` learns of every fill, in the order of time. */
  constructor(seed: number, onFill: (fill: GroupFill) => void) {
    this.#noise = hashOf(seed, 'orders');
    this.#onFill = onFill;
  }

  /** Every order that was placed, oldest first; those that were there from the start are not among them. */
  get all(): readonly StoredOrder[] {
    return [...this.#byClientId.values()].slice(this.#past).map(({ order }) => order.stored);
  }

  /** Undefined also for the parts of a combination that went away with its master. */
  find(accountId: string, clientOrderId: string): Found | undefined {
    const found = this.#byClientId.get(keyOf(accountId, clientOrderId));
    return found?.group.hasDropped(found.order) ? undefined : found;
  }

  /** Whether an order was ever placed under this id. */
  knows(accountId: string, clientOrderId: string): boolean {
    return this.#byClientId.has(keyOf(accountId, clientOrderId));
  }

  /** Of one account, newest first. */
  groupsOf(accountId: string): readonly OrderGroup[] {
    return (this.#groups.get(accountId) ?? []).toReversed();
  }

  /** The orders of one account that are not done yet. */
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
    const group = new OrderGroup(++this.#sequence, orders, combination);
    const { accountId } = orders[0]!.stored;
    const ofAccount = this.#groups.get(accountId) ?? [];
    ofAccount.push(group);
    this.#groups.set(accountId, ofAccount);
    for (const order of orders)
      this.#byClientId.set(keyOf(accountId, order.stored.clientOrderId), { group, order });
    this.#open.set(group, 0);
    return group;
  }

  /** To be called when something was done to a group, so that it is looked at. */
  wake(group: OrderGroup): void {
    this.#open.set(group, 0);
  }

  /** Lets every open order live on up to `now`. */
  settle(now: number): void {
    const fills: GroupFill[] = [];
    for (const [group, wakeAt] of this.#open) {
      // Within one moment nothing happens to what was looked at in it.
      if (wakeAt > now) continue;
      fills.push(...group.advance(now));
      if (group.isOpen) this.#open.set(group, Math.max(group.wakeAt, now + 1));
      else this.#open.delete(group);
    }
    fills.sort((a, b) => a.time - b.time);
    for (const fill of fills) this.#onFill(fill);
  }

  /** What was added so far belongs to the past. */
  endPast(): void {
    this.#past = this.#byClientId.size;
  }

  /** The next order or combination identifier; the sequence follows from the seed. */
  nextIdentifier(): string {
    return identifier(mix(this.#noise, this.#identifiers++), 26);
  }
}

function keyOf(accountId: string, clientOrderId: string): string {
  return JSON.stringify([accountId, clientOrderId]);
}
