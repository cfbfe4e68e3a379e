/** An order as it was asked for, and what the upstream noted of it when it was placed. */

import type { placeOrder } from '../../../lib/catalogue/index.ts';
import type { BodyOf } from '../parameters.ts';

export type NewOrder = BodyOf<typeof placeOrder>['new_orders'][number];

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
