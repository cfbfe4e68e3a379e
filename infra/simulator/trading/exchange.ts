/** Acts on orders in the exchange's place, for tests, and gives the record of all that happened to them. */

import { parseQuantity } from './amounts.ts';
import type { LoggedChange } from './change-log.ts';
import type { FoundOrder, OrderBook } from './order-book.ts';

export interface Exchange {
  /** Lists every change of every order since the start, oldest first: the last 100 000. */
  changes(): readonly LoggedChange[];
  /** Lets the market act on orders up to the clock, as each request does, and each moment while a stream is open. */
  settle(): void;
  /** Fills an open order now at the market's price: a part of it, or all of the rest. */
  fill(accountId: string, clientOrderId: string, quantity?: string): void;
  /** Fails the placement of an order that was accepted and of which nothing is filled. */
  failPlacing(accountId: string, clientOrderId: string): void;
  /**
   * Hides orders that are placed from now on from all reads, by id or in a list, for so many milliseconds of the upstream's
   * clock. The id is used up at once, the order can be replaced and cancelled, and its events come at once.
   */
  showAfter(ms: number): void;
  /** Accepts the next replacement or cancellation of an open order without executing it. */
  failNextChange(accountId: string, clientOrderId: string): void;
}

/** Creates the controls. Each function throws for an order that it does not apply to. */
export function createExchange(
  orders: OrderBook,
  changes: readonly LoggedChange[],
  clock: () => number,
): Exchange {
  const openOrder = (accountId: string, clientOrderId: string): FoundOrder => {
    orders.settle(clock());
    const found = orders.find(accountId, clientOrderId);
    if (!found?.order.isOpen || found.order.waiting)
      throw new Error(`${clientOrderId} is ${found?.order.status ?? 'not known'}`);
    return found;
  };
  return {
    changes: () => changes,
    settle: () => orders.settle(clock()),
    fill(accountId, clientOrderId, quantity) {
      const found = openOrder(accountId, clientOrderId);
      const { rest } = found.order;
      const amount = quantity === undefined ? rest : parseQuantity(quantity);
      if (amount === undefined || amount === 0n || amount > rest)
        throw new Error(`${quantity} is not a part of what is left of ${clientOrderId}`);
      orders.fill(found, amount, clock());
    },
    failPlacing(accountId, clientOrderId) {
      const found = openOrder(accountId, clientOrderId);
      if (found.order.filled > 0n) throw new Error(`${clientOrderId} is filled in part`);
      orders.fail(found, clock());
    },
    showAfter(ms) {
      orders.visibleAfterMs = ms;
    },
    failNextChange: (accountId, clientOrderId) => orders.failNextChange(openOrder(accountId, clientOrderId)),
  };
}
