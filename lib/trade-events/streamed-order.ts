/** Reads the stream's messages of orders. */

import { textMembers } from '../json-members.ts';
import { quantityOf } from '../orders/order-state.ts';
import type { StreamedOrder } from './order-changes.ts';
import type { StreamMessage } from './parse.ts';

const members = [
  'account_id',
  'client_order_id',
  'order_status',
  'scene_type',
  'filled_qty',
  'request_id',
] as const;

/**
 * @param onlyAccount that of a stream that has one account only
 * @returns undefined for a payload that names no order
 */
export function streamedOrderOf(
  { payload, requestId, timestamp }: StreamMessage,
  onlyAccount: string | undefined,
): StreamedOrder | undefined {
  const found = textMembers(payload, members);
  const account = found?.get('account_id') || onlyAccount;
  const clientOrderId = found?.get('client_order_id');
  const status = found?.get('order_status');
  if (!found || !account || !clientOrderId || !status) return undefined;
  return {
    state: { account, clientOrderId, status, filled: quantityOf(found.get('filled_qty')) },
    scene: found.get('scene_type') ?? '',
    requestId: requestId || found.get('request_id') || payload,
    ...(timestamp > 0 && { at: timestamp }),
  };
}

/** The account that a payload names. */
export const accountIn = (payload: string): string | undefined =>
  textMembers(payload, ['account_id'])?.get('account_id') || undefined;
