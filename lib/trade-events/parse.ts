/** What a message of the stream is: a sign of the stream's own life, or data. Unknown kinds pass as such. */

import { textMembers } from '../kernel/json-members.ts';
import { quantityOf } from '../orders/order-state.ts';
import { decodeSubscribeResponse, type SubscribeResponse } from './messages.ts';
import type { StreamedOrder } from './order-changes.ts';

const kinds = {
  0: 'subscribed',
  1: 'ping',
  2: 'authentication_error',
  3: 'too_many_connections',
  4: 'expired',
  1024: 'order',
  1028: 'position',
  1032: 'option',
} as const;

export type StreamMessageKind = (typeof kinds)[keyof typeof kinds] | 'other';

export interface StreamMessage extends SubscribeResponse {
  readonly kind: StreamMessageKind;
}

/**
 * @param bytes one message of the stream
 * @throws RangeError or Error for bytes that are no message
 * @example
 * for await (const bytes of stream) {
 *   const message = parseStreamMessage(bytes);
 *   if (message.kind === 'order') console.log(JSON.parse(message.payload));
 * }
 */
export function parseStreamMessage(bytes: Uint8Array): StreamMessage {
  const message = decodeSubscribeResponse(bytes);
  return { ...message, kind: kinds[message.eventType as keyof typeof kinds] ?? 'other' };
}

const members = [
  'account_id',
  'client_order_id',
  'order_status',
  'scene_type',
  'filled_qty',
  'request_id',
] as const;

/**
 * Reads a message of an order.
 *
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
