/** Encodes and decodes the event stream's two messages in protobuf, by the interface's field numbers alone. */

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

export interface ParsedSubscribe {
  /** Bits: 1 orders, 2 positions, 4 options. */
  readonly subscribeType: number;
  /** Unix time in milliseconds. */
  readonly timestamp: number;
  readonly contentType: string;
  readonly payload: string;
  readonly accounts: readonly string[];
}

export interface EventMessage {
  readonly eventType: number;
  readonly subscribeType: number;
  readonly contentType: string;
  readonly payload: string;
  readonly requestId: string;
  /** Unix time in milliseconds. */
  readonly timestamp: number;
}

/** Decodes a subscription; undefined for bytes that are no message. Unknown fields are skipped. */
export function decodeSubscribeRequest(bytes: Uint8Array): ParsedSubscribe | undefined {
  const found = { subscribeType: 0, timestamp: 0, contentType: '', payload: '' };
  const accounts: string[] = [];
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1 && type === WireType.Varint) found.subscribeType = reader.uint32();
      else if (field === 2 && type === WireType.Varint) found.timestamp = Number(reader.int64());
      else if (field === 3 && type === WireType.LengthDelimited) found.contentType = reader.string();
      else if (field === 4 && type === WireType.LengthDelimited) found.payload = reader.string();
      else if (field === 5 && type === WireType.LengthDelimited) accounts.push(reader.string());
      else reader.skip(type, field);
    }
  } catch {
    return undefined;
  }
  return { ...found, accounts };
}

/** Encodes an event. Fields with their default are left out, as in protobuf. `more` adds members that no client knows. */
export function encodeEvent(message: Partial<EventMessage>, more = false): Uint8Array {
  const writer = new BinaryWriter();
  const { eventType, subscribeType, contentType, payload, requestId, timestamp } = message;
  if (eventType) writer.tag(1, WireType.Varint).int32(eventType);
  if (subscribeType) writer.tag(2, WireType.Varint).uint32(subscribeType);
  if (contentType) writer.tag(3, WireType.LengthDelimited).string(contentType);
  if (payload) writer.tag(4, WireType.LengthDelimited).string(payload);
  if (requestId) writer.tag(5, WireType.LengthDelimited).string(requestId);
  if (timestamp) writer.tag(6, WireType.Varint).int64(timestamp);
  if (more) {
    writer.tag(7, WireType.Varint).uint64(2n ** 63n);
    writer.tag(99, WireType.LengthDelimited).string('later');
  }
  return writer.finish();
}
