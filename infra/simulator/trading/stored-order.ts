/** An order as it was asked for, and what the upstream noted of it when it was placed. */

import type * as v from 'valibot';
import type { placeOrder } from '../../../lib/catalogue/index.ts';

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
