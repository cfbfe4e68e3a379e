/** Messages of the stream: what is known is read, what is not is skipped, what is broken is refused. */

import assert from 'node:assert/strict';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { test } from 'vitest';
import { decodeSubscribeResponse, parseStreamMessage } from '../../lib/trade-events/index.ts';
import { encodeSubscribeResponse } from './stream-messages.ts';

const members = {
  eventType: fc.oneof(fc.constantFrom(0, 1, 2, 3, 4, 1024, 1028, 1032), fc.nat()),
  subscribeType: fc.nat(),
  contentType: fc.string(),
  payload: fc.string({ unit: 'grapheme' }),
  requestId: fc.string(),
  timestamp: fc.maxSafeInteger(),
};
const anyMessage = fc.record(members, { noNullPrototype: true });

test('a message is read as it was written', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      assert.deepEqual(decodeSubscribeResponse(encodeSubscribeResponse(message)), message);
    }),
  );
});

test('fields of a later version, and known ones in another form, are skipped', () => {
  const more = new BinaryWriter()
    .tag(7, WireType.LengthDelimited)
    .string('new')
    .tag(99, WireType.Bit64)
    .fixed64(1)
    .tag(4, WireType.Varint)
    .uint32(5)
    .tag(1, WireType.LengthDelimited)
    .string('text')
    .tag(100, WireType.StartGroup)
    .tag(1, WireType.Varint)
    .uint32(1)
    .tag(100, WireType.EndGroup)
    .finish();
  fc.assert(
    fc.property(anyMessage, (message) => {
      const bytes = Uint8Array.of(...more, ...encodeSubscribeResponse(message), ...more);
      assert.deepEqual(decodeSubscribeResponse(bytes), message);
    }),
  );
});

test('a broken message is refused, and never read for ever', () => {
  const bytes = encodeSubscribeResponse({ eventType: 1024, payload: '{"a":1}', requestId: 'r' });
  assert.throws(() => decodeSubscribeResponse(bytes.subarray(0, bytes.length - 1)));
  fc.assert(
    fc.property(fc.uint8Array(), (any) => {
      try {
        decodeSubscribeResponse(any);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
  );
});

test('each kind has its name, and an unknown one passes', () => {
  const kindOf = (eventType: number) => parseStreamMessage(encodeSubscribeResponse({ eventType })).kind;
  assert.deepEqual([0, 1, 2, 3, 4, 1024, 1028, 1032, 5, -1].map(kindOf), [
    'subscribed',
    'ping',
    'authentication_error',
    'too_many_connections',
    'expired',
    'order',
    'position',
    'option',
    'other',
    'other',
  ]);
});
