/** Failed probes of each caller, counted the same by all instances. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { InvalidSymbolQuota } from '../../lib/cache/snapshots/fairness.ts';
import type { RefreshRecord } from '../../lib/cache/snapshots/store.ts';

const start = 1_795_239_000_000;
const failed = (sequence: number, change: Partial<RefreshRecord> = {}): RefreshRecord => ({
  sequence,
  kind: 'probe',
  view: 'US_STOCK',
  sentAt: start + sequence * 100,
  symbols: [`0${sequence}`],
  outcome: { kind: 'rejected', error: { status: 417 } },
  caller: 'one',
  demand: [],
  ...change,
});
const valid = (sequence: number, count: number): RefreshRecord => {
  const symbols = Array.from({ length: count }, (_, index) => `S${sequence}-${index}`);
  const records = new Map(symbols.map((symbol) => [symbol, new Uint8Array()]));
  return failed(sequence, { symbols, outcome: { kind: 'answer', records, unknown: [] } });
};
const create = () => new InvalidSymbolQuota({ forgivenPerMinute: 4 });

test('failed probes up to the quota and no more, then one for each that is forgiven', () => {
  const quota = create();
  for (let sequence = 0; sequence < 30; sequence++) {
    assert.equal(quota.isOver('one', start + sequence * 100), false);
    quota.apply(failed(sequence));
  }
  assert.equal(quota.isOver('one', start + 3000), true);
  assert.equal(quota.isOver('two', start + 3000), false);
  assert.equal(quota.isOver('one', start + 14_000), true);
  assert.equal(quota.isOver('one', start + 16_000), false);
  quota.apply(failed(160));
  assert.equal(quota.isOver('one', start + 16_100), true);
});

test('a caller with many valid symbols may fail more often', () => {
  const quota = create();
  let sequence = 0;
  for (let round = 0; round < 40; round++) {
    quota.apply(failed(sequence++));
    quota.apply(valid(sequence++, 4));
  }
  assert.equal(quota.isOver('one', start + sequence * 100), false);
  // Credit is bounded.
  quota.apply(valid(sequence++, 1000));
  for (let round = 0; round < 38; round++) quota.apply(failed(sequence++));
  assert.equal(quota.isOver('one', start + sequence * 100), true);
});

test('an instance that is new counts as those that were there', () => {
  const [old, late] = [create(), create()];
  for (let sequence = 0; sequence < 30; sequence++) old.apply(failed(sequence));
  const record = failed(30, { kind: 'refresh', failedProbes: old.levels(start + 3000) });
  for (const quota of [old, late]) quota.apply(record);
  assert.equal(late.isOver('one', start + 3000), true);
  // Repeated levels do not count twice.
  for (const quota of [old, late]) quota.apply({ ...record, sequence: 31 });
  for (const quota of [old, late]) assert.equal(quota.isOver('one', start + 16_200), false);
});

test('of more callers than one record repeats, those come to a new instance that failed most', () => {
  const [old, late] = [create(), create()];
  for (let caller = 0; caller < 30; caller++) old.apply(failed(0, { caller: `${caller}` }));
  for (let sequence = 0; sequence < 30; sequence++) old.apply(failed(sequence, { caller: 'worst' }));
  late.merge(old.levels(start + 3000), start + 3000);
  assert.equal(late.isOver('worst', start + 3000), true);
});

test('what is forgiven is deleted', () => {
  const quota = create();
  quota.apply(failed(0));
  assert.equal(quota.levels(start).length, 1);
  assert.deepEqual(quota.levels(start + 60_000), []);
});

test('probes under way count as failed, those of unlisted symbols eight times', () => {
  const quota = create();
  const underWay = (count: number, isUnlistedProbe?: true) =>
    Array.from({ length: count }, () => (isUnlistedProbe ? { isUnlistedProbe } : {}));
  for (const [probes, isOver] of [
    [underWay(29), false],
    [underWay(30), true],
    [underWay(3, true), false],
    [underWay(4, true), true],
  ] as const)
    assert.equal(quota.isOver('one', start, probes), isOver);
  for (let sequence = 0; sequence < 3; sequence++) quota.apply(failed(sequence, { isUnlistedProbe: true }));
  assert.equal(quota.isOver('one', start + 300), false);
  assert.equal(quota.isOver('one', start + 300, underWay(1, true)), true);
});

test('a caller that goes on with invalid symbols has no more of them probed than is forgiven', () => {
  const quota = create();
  let probes = 0;
  for (let sequence = 0; sequence < 6000; sequence++)
    if (!quota.isOver('one', start + sequence * 100)) {
      quota.apply(failed(sequence));
      probes++;
    }
  // Ten minutes.
  assert.ok(probes >= 66 && probes <= 71, `${probes}`);
});
