/** Which symbols the sessions carry: never more than there is room for, those in demand, and none that moves in and out. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { assign, keyOf } from '../../lib/market-stream/assign.ts';

const symbols = Array.from({ length: 60 }, (_, index) => ({ category: 'US_STOCK', symbol: `S${index}` }));
const wantedIn = (demands: readonly number[]) =>
  demands
    .map((demand, index) => ({ ...symbols[index]!, demand }))
    .filter(({ demand }) => demand > 0)
    .sort((a, b) => b.demand - a.demand);
const demands = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 12, maxLength: 12 });

test('room is never exceeded, and what is carried is in demand', () => {
  fc.assert(
    fc.property(demands, demands, fc.integer({ min: 1, max: 6 }), (before, after, capacity) => {
      const first = assign(new Set(), wantedIn(before), capacity);
      const second = assign(first, wantedIn(after), capacity);
      const keys = new Set(wantedIn(after).map(keyOf));
      assert.ok(first.size <= capacity && second.size <= capacity);
      for (const key of second) assert.ok(keys.has(key), key);
      assert.equal(second.size, Math.min(capacity, keys.size));
      // Nothing that is not carried is in so much more demand than what is.
      const of = (key: string) => wantedIn(after).find((one) => keyOf(one) === key)?.demand ?? 0;
      const weakest = Math.min(...[...second].map(of));
      for (const key of keys) if (!second.has(key)) assert.ok(of(key) < 1.5 * weakest, key);
    }),
  );
});

test('the same demand moves nothing', () => {
  fc.assert(
    fc.property(demands, (demand) => {
      const first = assign(new Set(), wantedIn(demand), 5);
      assert.deepEqual(assign(first, wantedIn(demand), 5), first);
    }),
  );
});

test('no more move at once than may', () => {
  const first = assign(new Set(), wantedIn(Array(30).fill(1)), 30);
  const others = [...Array(30).fill(1), ...Array.from({ length: 30 }, (_, index) => 90 - index)];
  const second = assign(first, wantedIn(others), 30);
  const moved = [...second].filter((key) => !first.has(key));
  assert.deepEqual(moved, symbols.slice(30, 50).map(keyOf));
});
