/** Orders of many instances on one counter. The exhaustive tests have the last row of the table in docs/orders.md. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countingGuard, placeByChance, startOrders, useTimeAndChance } from './contention.ts';

const time = useTimeAndChance();

for (const [instances, each, transactionMs] of [
  [20, 1, 20],
  [20, 5, 10],
  [20, 5, 20],
] as const)
  test(`${instances * each} orders at once from ${instances} instances begin within their four seconds, in transactions of ${transactionMs} ms`, async () => {
    const { items, place } = startOrders(transactionMs);
    const begun: string[] = [];
    for (let instance = 0; instance < instances; instance++) {
      const guard = countingGuard();
      for (let index = 0; index < each; index++)
        void place(instance * each + index, guard).then(({ kind }) => begun.push(kind));
    }
    const orders = instances * each;
    for (let passed = 0; begun.length < orders && passed < 6500; passed += 100) await time.pass(100);
    assert.deepEqual(
      begun,
      Array.from({ length: orders }, () => 'begun'),
    );
    assert.deepEqual(items.get('counter')?.state, { S: `${orders}` });
    assert.equal(items.size, orders + 1);
  });

for (const [instances, perSecond, mayBeAway] of [
  [5, 20, false],
  [20, 20, false],
  [20, 40, true],
] as const)
  test(`${perSecond} orders a second from ${instances} instances: each begins or is told that the journal was away`, () =>
    placeByChance(time, instances, perSecond, mayBeAway));
