/**
 * Messages of the upstream's event service: their bytes, and what each is: a sign of the stream's own life, or data. Fields
 * and kinds that a later version adds do no harm.
 */

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { textMembers } from '../kernel/json-members.ts';
import { quantityOf } from '../orders/order-state.ts';
import type { StreamedOrder } from './order-changes.ts';

/** Path of the call that subscribes. */
export const eventServicePath = '/grpc.trade.event.EventService/Subscribe';

/** Bits of `subscribeType`. */
export const subscribeTypes = { orders: 1, positions: 2, options: 4 } as const;

export interface SubscribeRequest {
  /** Kinds of events: a sum of `subscribeTypes`. */
  readonly subscribeType: number;
  /** Unix time in milliseconds. */
  readonly timestamp: number;
  readonly contentType?: string;
  readonly payload?: string;
  readonly accounts: readonly string[];
}

/** One message of the stream, as the upstream wrote it; what it left out is `0` or empty. */
export interface SubscribeResponse {
  readonly eventType: number;
  readonly subscribeType: number;
  readonly contentType: string;
  readonly payload: string;
  readonly requestId: string;
  /** Unix time in milliseconds. */
  readonly timestamp: number;
}

/**
 * The request's bytes: sign and send exactly these.
 *
 * @example
 * const request = { subscribeType: 7, timestamp: Date.now(), accounts: ['1234567'] };
 * const message = encodeSubscribeRequest(request);
 */
export function encodeSubscribeRequest(request: SubscribeRequest): Uint8Array {
  const { subscribeType, timestamp, contentType, payload, accounts } = request;
  const writer = new BinaryWriter();
  if (subscribeType) writer.tag(1, WireType.Varint).uint32(subscribeType);
  if (timestamp) writer.tag(2, WireType.Varint).int64(Math.trunc(timestamp));
  if (contentType) writer.tag(3, WireType.LengthDelimited).string(contentType);
  if (payload) writer.tag(4, WireType.LengthDelimited).string(payload);
  for (const account of accounts) writer.tag(5, WireType.LengthDelimited).string(account);
  return writer.finish();
}

const { Varint, LengthDelimited } = WireType;

/** The form in which each field is read. In another one it is unknown, and skipped. */
const wireTypes: Readonly<Record<number, WireType>> = {
  1: Varint,
  2: Varint,
  3: LengthDelimited,
  4: LengthDelimited,
  5: LengthDelimited,
  6: Varint,
};

/**
 * @throws RangeError or Error for bytes that are no message
 * @example
 * const { eventType, payload } = decodeSubscribeResponse(bytes);
 */
export function decodeSubscribeResponse(bytes: Uint8Array): SubscribeResponse {
  const message = {
    eventType: 0,
    subscribeType: 0,
    contentType: '',
    payload: '',
    requestId: '',
    timestamp: 0,
  };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireTypes[field] !== wireType) reader.skip(wireType, field);
    else if (field === 1) message.eventType = reader.int32();
    else if (field === 2) message.subscribeType = reader.uint32();
    else if (field === 3) message.contentType = reader.string();
    else if (field === 4) message.payload = reader.string();
    else if (field === 5) message.requestId = reader.string();
    else message.timestamp = Number(reader.int64());
  }
  return message;
}

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

const orderMembers = [
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
  const found = textMembers(payload, orderMembers);
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
