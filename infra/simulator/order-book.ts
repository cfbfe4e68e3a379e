/** The orders that the simulated upstream holds. */

import type * as v from 'valibot';
import type { placeOrder } from '../../lib/catalogue/index.ts';
import { hashOf, identifier, mix } from './random.ts';

export type NewOrder = v.InferOutput<typeof placeOrder.body>['new_orders'][number];

export interface StoredOrder {
  readonly accountId: string;
  readonly clientOrderId: string;
  readonly orderId: string;
  /** Present for an order that is part of a combination. */
  readonly comboOrderId?: string;
  /** When it was placed, Unix time in milliseconds. */
  readonly placedAt: number;
  /** What was asked for. */
  readonly order: NewOrder;
}

export class OrderBook {
  readonly #noise: number;
  readonly #byClientId = new Map<string, StoredOrder>();
  #identifiers = 0;

  constructor(seed: number) {
    this.#noise = hashOf(seed, 'orders');
  }

  /** Every order, oldest first. */
  get all(): readonly StoredOrder[] {
    return [...this.#byClientId.values()];
  }

  find(accountId: string, clientOrderId: string): StoredOrder | undefined {
    return this.#byClientId.get(keyOf(accountId, clientOrderId));
  }

  add(order: StoredOrder): void {
    this.#byClientId.set(keyOf(order.accountId, order.clientOrderId), order);
  }

  /** The next order or combination identifier; the sequence follows from the seed. */
  nextIdentifier(): string {
    return identifier(mix(this.#noise, this.#identifiers++), 26);
  }
}

function keyOf(accountId: string, clientOrderId: string): string {
  return JSON.stringify([accountId, clientOrderId]);
}
