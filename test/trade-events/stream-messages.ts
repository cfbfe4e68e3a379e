/** What an upstream writes to a stream, and reads of a subscription, with the messages' own package. */

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { SubscribeResponse } from '../../lib/trade-events/index.ts';

export function encodeSubscribeResponse(message: Partial<SubscribeResponse>): Uint8Array {
  const { eventType = 0, subscribeType = 0, contentType = '', payload = '' } = message;
  const { requestId = '', timestamp = 0 } = message;
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(eventType)
    .tag(2, WireType.Varint)
    .uint32(subscribeType)
    .tag(3, WireType.LengthDelimited)
    .string(contentType)
    .tag(4, WireType.LengthDelimited)
    .string(payload)
    .tag(5, WireType.LengthDelimited)
    .string(requestId)
    .tag(6, WireType.Varint)
    .int64(timestamp)
    .finish();
}

/** The accounts that a subscription names. */
export function accountsOf(message: Uint8Array): readonly string[] {
  const reader = new BinaryReader(message);
  const accounts: string[] = [];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 5) accounts.push(reader.string());
    else reader.skip(wireType, field);
  }
  return accounts;
}
