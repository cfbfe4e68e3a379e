/** The order of an `OrderChanged` event, as reads of orders show one. */

import type { ReadOrder } from '../orders/order-reads.ts';

/** Undefined for a detail that names no order. */
export function orderInEvent(detail: unknown): ReadOrder | undefined {
  if (typeof detail !== 'object' || detail === null) return undefined;
  const { account_id, client_order_id, status, filled_quantity, order } = detail as Readonly<
    Record<string, unknown>
  >;
  if (typeof account_id !== 'string' || typeof client_order_id !== 'string') return undefined;
  const state = {
    account: account_id,
    clientOrderId: client_order_id,
    status: String(status),
    filled: String(filled_quantity ?? '0'),
  };
  // Only texts of it are read, so that parsing has rounded nothing that counts.
  return { state, payload: JSON.stringify(order ?? {}) };
}
