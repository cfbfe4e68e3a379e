/** Stored items keep the names of the first version: during a deployment instances of two versions read one table. */

import assert from 'node:assert/strict';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { test } from 'vitest';
import {
  packCheckpoint,
  packFlights,
  packRecord,
  unpackCheckpoint,
  unpackFlights,
  unpackRecord,
} from '../../functions/aws/snapshot-items.ts';
import { fromStoredPlan, toStoredPlan } from '../../functions/aws/snapshot-names.ts';
import {
  type Checkpoint,
  type Control,
  type Flight,
  noControl,
  type RefreshRecord,
} from '../../lib/cache/snapshots/index.ts';

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
const answerHead = `{"v":2,"by":"i1","kind":"test","view":"US_STOCK+eo","sentAt":5.5,"sibling":["C"],"caller":"k1","priority":"events","isProbe":true,"namesUnknown":true,"failedTests":[["k1",2.5]],"unknown":[["US_STOCK","Z",12.5]],"symbols":[],"outcome":{"kind":"answer","unknown":["B"]},"asked":{"US_STOCK":["AAPL",3,"B",1]}}`;
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
const forbiddenText =
  '{"v":1,"kind":"wanted","view":"US_STOCK","sentAt":6,"symbols":["A"],"outcome":{"kind":"denied","says":{"status":417,"message":"not known"},"until":9},"asked":{}}\n';
const rejected: RefreshRecord = { ...forbidden, kind: 'refresh', outcome: { kind: 'rejected', error } };
const rejectedText = forbiddenText
  .replace('wanted', 'refresh')
  .replace('denied', 'rejected')
  .replace(',"until":9', '');

const ofFirstVersion = (text: string) => text.replace('{"v":2', '{"v":1');

test('records of the log are written and read with the stored names', () => {
  for (const [record, text] of [
    [answer, `${answerHead}\n${columns}`],
    [forbidden, forbiddenText],
    [rejected, rejectedText],
  ] as const) {
    assert.equal(unpacked(packRecord(record)), text);
    assert.deepEqual(unpackRecord(record.sequence, packed(text)), record);
  }
  const before = ofFirstVersion(`${answerHead}\n[${snapshot}]`);
  assert.deepEqual(unpackRecord(answer.sequence, packed(before)), answer);
});

const checkpoint: Checkpoint = {
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
const checkpointTextOf = (body: string) =>
  `{"v":2,"turn":9,"at":100000,"unknown":[["US_STOCK","Z",12.5]],"past":[[4,"wanted","k1"]],"failedTests":[["k1",1]],"denials":[["US_ETF",{"status":417,"message":"not known"},77]],"pause":{"notBefore":1,"failures":2,"at":3,"downUntil":4},"groups":[{"view":"US_STOCK","sentAt":5,"isDoubtful":true,"namesUnknown":true,"length":${body.length}}],"demand":{"US_STOCK":["AAPL",2.5,10]}}\n${body}`;

test('checkpoints are', () => {
  assert.deepEqual(packCheckpoint(checkpoint, 1e6).map(unpacked), [checkpointTextOf(columns)]);
  for (const text of [checkpointTextOf(columns), ofFirstVersion(checkpointTextOf(`[${snapshot}]`))])
    assert.deepEqual(unpackCheckpoint(packed(text)), checkpoint);
});

const flights: readonly Flight[] = [
  { sequence: 3, at: 10, view: 'US_STOCK', fingerprints: [1, 258] },
  { sequence: 4, at: 12, view: 'US_STOCK', fingerprints: [2], caller: 'k1', isUnlistedProbe: true },
];
const flightsBytes = Buffer.concat([
  Buffer.from('[10,[[3,0,"US_STOCK",2],[4,2,"US_STOCK",1,"k1",1]]]\n'),
  Buffer.from([1, 0, 2, 1, 2, 0]),
]);

test('calls under way and the control item are', () => {
  assert.deepEqual(Buffer.from(packFlights(flights)), flightsBytes);
  assert.deepEqual(unpackFlights(flightsBytes), flights);
  const control: Control = {
    sequence: 9,
    due: { refresh: 1, miss: 2, probe: 3 },
    probes: { left: 1.5, at: 4 },
    flights: [],
    checkpoint: { sequence: 3, at: 5, records: 6, gap: 7 },
  };
  const text =
    '{"due":{"refresh":1,"wanted":2,"test":3},"tests":{"left":1.5,"at":4},"checkpoint":{"turn":3,"at":5,"records":6,"gap":7}}';
  assert.equal(JSON.stringify(toStoredPlan(control)), text);
  const { due, probes, checkpoint: mark } = control;
  assert.deepEqual(fromStoredPlan(JSON.parse(text), noControl), { due, probes, checkpoint: mark });
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
        const sequence = 1;
        const nothing = { demand: [], negative: [], recent: [], failedProbes: [] };
        const [checkpoint] = packCheckpoint({ sequence, at: 1, fetched, ...nothing }, 1_000_000);
        const records = fetched.map((group) => {
          const outcome = { kind: 'answer', records: group.records, unknown: [] } as const;
          return packRecord({ ...answer, sequence, outcome });
        });
        for (const symbol of [other, ...groups.flat()]) {
          const inCheckpoint = unpackCheckpoint(checkpoint!, symbol)?.fetched;
          const inLog = records.map((packed) => unpackRecord(sequence, packed, symbol)?.outcome);
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
