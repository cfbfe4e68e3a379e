/** Whose symbols fail, counted the same by all instances. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { InvalidSymbolQuota } from '../../lib/cache/snapshots/invalid-symbol-quota.ts';
import type { RefreshRecord } from '../../lib/cache/snapshots/store.ts';

const start = 1_795_239_000_000;
const failed = (turn: number, change: Partial<RefreshRecord> = {}): RefreshRecord => ({
  sequence: turn,
  kind: 'probe',
  view: 'US_STOCK',
  sentAt: start + turn * 100,
  symbols: [`0${turn}`],
  outcome: { kind: 'rejected', error: { status: 417 } },
  caller: 'one',
  demand: [],
  ...change,
});
const proved = (turn: number, count: number): RefreshRecord => {
  const symbols = Array.from({ length: count }, (_, index) => `S${turn}-${index}`);
  const records = new Map(symbols.map((symbol) => [symbol, new Uint8Array()]));
  return failed(turn, { symbols, outcome: { kind: 'answer', records, unknown: [] } });
};
const create = () => new InvalidSymbolQuota({ failuresPerCaller: 4, forgivenPerMinute: 4 });

test('so many failed tests and no more, then one for each that is forgiven', () => {
  const junk = create();
  for (let turn = 0; turn < 4; turn++) {
    assert.equal(junk.isOver('one', start + turn * 100), false);
    junk.apply(failed(turn));
  }
  assert.equal(junk.isOver('one', start + 400), true);
  assert.equal(junk.isOver('two', start + 400), false);
  assert.equal(junk.isOver('one', start + 14_000), true);
  assert.equal(junk.isOver('one', start + 16_000), false);
  junk.apply(failed(160));
  assert.equal(junk.isOver('one', start + 16_100), true);
});

test('whoever brings many that exist may be wrong more often', () => {
  const junk = create();
  let turn = 0;
  for (let round = 0; round < 10; round++) {
    junk.apply(failed(turn++));
    junk.apply(proved(turn++, 4));
  }
  assert.equal(junk.isOver('one', start + turn * 100), false);
  // Merits are not saved up without end.
  junk.apply(proved(turn++, 1000));
  for (let round = 0; round < 6; round++) junk.apply(failed(turn++));
  assert.equal(junk.isOver('one', start + turn * 100), true);
});

test('an instance that is new counts as those that were there', () => {
  const [old, late] = [create(), create()];
  for (let turn = 0; turn < 4; turn++) old.apply(failed(turn));
  const entry = failed(10, { kind: 'refresh', failedProbes: old.levels(start + 1000) });
  for (const junk of [old, late]) junk.apply(entry);
  assert.equal(late.isOver('one', start + 1000), true);
  // Told again, nothing counts twice.
  for (const junk of [old, late]) junk.apply({ ...entry, sequence: 11 });
  for (const junk of [old, late]) assert.equal(junk.isOver('one', start + 16_200), false);
});

test('what is forgiven is not kept', () => {
  const junk = create();
  junk.apply(failed(0));
  assert.equal(junk.levels(start).length, 1);
  assert.deepEqual(junk.levels(start + 60_000), []);
});

test('tests under way count as if they failed, a probe eight times', () => {
  const junk = new InvalidSymbolQuota({ failuresPerCaller: 20, forgivenPerMinute: 4 });
  const underWay = (count: number, isUnlistedProbe?: true) =>
    Array.from({ length: count }, () => (isUnlistedProbe ? { isUnlistedProbe } : {}));
  for (const [tests, isSpent] of [
    [underWay(19), false],
    [underWay(20), true],
    [underWay(2, true), false],
    [underWay(3, true), true],
  ] as const)
    assert.equal(junk.isOver('one', start, tests), isSpent);
  for (let turn = 0; turn < 2; turn++) junk.apply(failed(turn, { isUnlistedProbe: true }));
  assert.equal(junk.isOver('one', start + 200), false);
  assert.equal(junk.isOver('one', start + 200, underWay(1, true)), true);
});

test('whoever goes on with junk has no more of it tested than is forgiven', () => {
  const junk = create();
  let tests = 0;
  for (let turn = 0; turn < 6000; turn++)
    if (!junk.isOver('one', start + turn * 100)) {
      junk.apply(failed(turn));
      tests++;
    }
  // Ten minutes.
  assert.ok(tests >= 40 && tests <= 45, `${tests}`);
});
