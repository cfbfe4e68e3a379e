/** Stored items come back as they were written, have the records' own names, and give one symbol without the others. */

import assert from 'node:assert/strict';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { test } from 'vitest';
import type { DynamoSender } from '../../functions/aws/dynamo-client.ts';
import { createDynamoSnapshotStore } from '../../functions/aws/dynamo-snapshot-store.ts';
import {
  packCheckpoint,
  packFlights,
  packRecord,
  unpackCheckpoint,
  unpackFlights,
  unpackRecord,
} from '../../functions/aws/snapshot-items.ts';
import { controlKey } from '../../functions/aws/snapshot-keys.ts';
import {
  noControl,
  type RefreshFlight,
  type RefreshRecord,
  type SnapshotCheckpoint,
} from '../../lib/cache/snapshots/index.ts';
import { createRandom } from '../world/random.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const packed = (text: string) => brotliCompressSync(bytes(text));
const unpacked = (item: Uint8Array | undefined) => brotliDecompressSync(item!).toString();
const snapshot = '{"symbol":"AAPL","price":1.10}';

const answer: RefreshRecord = {
  sequence: 7,
  writer: 'i1',
  kind: 'probe',
  view: 'US_STOCK+eo',
  sentAt: 5.5,
  symbols: ['AAPL', 'B'],
  outcome: { kind: 'answer', records: new Map([['AAPL', bytes(snapshot)]]), unknown: ['B'] },
  sibling: ['C'],
  caller: 'k1',
  priority: 'events',
  isUnlistedProbe: true,
  namesUnknown: true,
  failedProbes: [['k1', 2.5]],
  negative: [['US_STOCK', 'Z', 12.5]],
  demand: [
    ['US_STOCK', 'AAPL', 3],
    ['US_STOCK', 'B', 1],
  ],
};
/** One record is the same as all others in every column. */
const columns = `[[1,"1111111"]]\n${snapshot}`;

const error = { status: 417, message: 'not known' };
const forbidden: RefreshRecord = {
  sequence: 8,
  kind: 'miss',
  view: 'US_STOCK',
  sentAt: 6,
  symbols: ['A'],
  outcome: { kind: 'forbidden', error, until: 9 },
  demand: [],
};
const rejected: RefreshRecord = { ...forbidden, kind: 'refresh', outcome: { kind: 'rejected', error } };
const failed: RefreshRecord = {
  ...rejected,
  outcome: { kind: 'failed', notBefore: 12, upstream: true },
};

/** As another version would write it. */
const ofAnother = (item: Uint8Array) => packed(unpacked(item).replace(/"v":\d+/, '"v":99'));

test('records of the log come back as they were written', () => {
  for (const record of [answer, forbidden, rejected, failed]) {
    const item = packRecord(record);
    assert.deepEqual(unpackRecord(item), record);
    assert.equal(unpackRecord(ofAnother(item)), undefined);
    assert.equal(unpackRecord(item.subarray(1)), undefined);
  }
  const [head, ...body] = unpacked(packRecord(answer)).split('\n');
  const { v, ...stored } = JSON.parse(head!) as object & { v: number };
  assert.equal(typeof v, 'number');
  // What the snapshots name stands in them alone.
  assert.deepEqual(stored, { ...answer, symbols: [], outcome: { kind: 'answer', unknown: ['B'] } });
  assert.equal(body.join('\n'), columns);
});

const checkpoint: SnapshotCheckpoint = {
  sequence: 9,
  at: 100_000,
  fetched: [
    {
      view: 'US_STOCK',
      sentAt: 5,
      isSuspect: true,
      namesUnknown: true,
      records: new Map([['AAPL', bytes(snapshot)]]),
    },
  ],
  demand: [['US_STOCK', 'AAPL', 2.5, 90_000]],
  negative: [['US_STOCK', 'Z', 12.5]],
  recent: [[4, 'miss', 'k1']],
  failedProbes: [['k1', 1]],
  forbidden: [['US_ETF', error, 77]],
  pause: { notBefore: 1, failures: 2, at: 3, downUntil: 4 },
};
test('checkpoints do', () => {
  const [item, ...others] = packCheckpoint(checkpoint, 1e6);
  assert.equal(others.length, 0);
  assert.deepEqual(unpackCheckpoint(item!), checkpoint);
  assert.equal(unpackCheckpoint(ofAnother(item!)), undefined);
  assert.equal(unpackCheckpoint(item!.subarray(1)), undefined);
});

const flights: readonly RefreshFlight[] = [
  { sequence: 3, at: 10, view: 'US_STOCK', fingerprints: [1, 258] },
  { sequence: 4, at: 12, view: 'US_STOCK', fingerprints: [2], caller: 'k1', isUnlistedProbe: true },
];
test('calls under way do, and those for a thousand symbols leave room in 4 kB', () => {
  for (const some of [flights, []]) assert.deepEqual(unpackFlights(packFlights(some)), some);
  const random = createRandom(1);
  const fingerprints = Array.from({ length: 100 }, () => Math.floor(random() * 65_536));
  const many = Array.from({ length: 10 }, (_, index) => ({ ...flights[0]!, sequence: index, fingerprints }));
  assert.deepEqual(unpackFlights(packFlights(many)), many);
  const different = many.map((flight) => ({
    ...flight,
    fingerprints: fingerprints.map(() => Math.floor(random() * 65_536)),
  }));
  assert.ok(packFlights(different).length < 3000);
});

test('of one symbol the stored items give what they give of it among all, however short it is', () =>
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(fc.stringMatching(/^[A-Z. /]{1,3}$/), { minLength: 1, maxLength: 8 }), {
        maxLength: 4,
      }),
      fc.stringMatching(/^[A-Z. /]{1,3}$/),
      (groups, other) => {
        const fetched = groups.map((symbols, index) => ({
          view: 'US_STOCK',
          sentAt: index,
          records: new Map(
            symbols.map((symbol) => [symbol, bytes(`{"symbol":"${symbol}","price":"${index}","name":"A"}`)]),
          ),
        }));
        const nothing = { demand: [], negative: [], recent: [], failedProbes: [] };
        const [checkpoint] = packCheckpoint({ sequence: 1, at: 1, fetched, ...nothing }, 1_000_000);
        const records = fetched.map((group) => {
          const outcome = { kind: 'answer', records: group.records, unknown: [] } as const;
          return packRecord({ ...answer, outcome });
        });
        for (const symbol of [other, ...groups.flat()]) {
          const inCheckpoint = unpackCheckpoint(checkpoint!, symbol)?.fetched;
          const inLog = records.map((packed) => unpackRecord(packed, symbol)?.outcome);
          for (const [index, group] of fetched.entries()) {
            const expected = group.records.get(symbol);
            assert.deepEqual(inCheckpoint?.[index]?.records.get(symbol), expected, symbol);
            const outcome = inLog[index];
            assert.ok(outcome?.kind === 'answer');
            assert.deepEqual(outcome.records.get(symbol), expected, symbol);
          }
        }
      },
    ),
  ));

test('a control item of another version is written over: it has no end by itself', async () => {
  const plan = {
    due: { refresh: 1, wanted: 2, test: 3 },
    tests: { left: 1, at: 2 },
    checkpoint: { turn: 9 },
  };
  const plans = [JSON.stringify(plan), JSON.stringify({}), '', undefined];
  const flights = [bytes('[0,[]]\n'), packFlights([]), undefined];
  for (const text of plans)
    for (const B of flights) {
      const item = {
        sk: { S: controlKey },
        turn: { N: '41' },
        ...(text !== undefined && { plan_text: { S: text } }),
        ...(B && { flights: { B } }),
      };
      let values: object = {};
      const send = async (operation: string, input: { readonly ExpressionAttributeValues?: object }) => {
        if (operation === 'Query') return { Items: [item] };
        values = input.ExpressionAttributeValues ?? {};
        return {};
      };
      const client = { send } as unknown as DynamoSender;
      const store = createDynamoSnapshotStore({ client, tableName: 'table', partition: 'p' });
      const { control } = await store.read(undefined, []);
      assert.deepEqual(control, { ...noControl, sequence: 41 });
      await store.acquire({ ...control, sequence: 42 }, control.sequence);
      assert.ok(Object.values(values).some(({ N }) => N === '41'));
    }
});
