/** Every current operation of the group orders: in a separate file, so that a bundle of one operation leaves it out. */

import type { Operation } from './operation.ts';
import * as cancels from './order-cancels.ts';
import * as outcomes from './order-outcomes.ts';
import * as reads from './order-reads.ts';
import * as orders from './orders.ts';

export const allOrders: readonly Operation[] = [orders, cancels, reads, outcomes].flatMap((file) =>
  Object.values<Operation>(file),
);
