/** The rows of docs/orders.md: orders come by chance, for ten seconds, each to the next instance. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countingGuard, startOrders, useTimeAndChance } from './contention.ts';

const time = useTimeAndChance();

for (const [instances, perSecond, mayBeAway] of [
  [5, 20, false],
  [20, 20, false],
  [20, 40, true],
  [20, 60, true],
] as const)
  test(`${perSecond} orders a second from ${instances} instances: each begins or is told that the journal was away`, async () => {
    const { items, place } = startOrders(10);
    const guards = Array.from({ length: instances }, countingGuard);
    const ended: { readonly kind: string; readonly ms: number }[] = [];
    const orders = 10 * perSecond;
    for (let index = 0; index < orders; index++) {
      void place(index, guards[index % instances]!).then((one) => ended.push(one));
      await time.pass(2 * Math.round((-500 * Math.log(1 - Math.random())) / perSecond));
    }
    for (let passed = 0; ended.length < orders && passed < 6500; passed += 100) await time.pass(100);
    const begun = ended.filter(({ kind }) => kind === 'begun');
    const away = orders - begun.length;
    const times = begun.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share: number) => `${times[Math.floor(share * (times.length - 1))]} ms`;
    console.log(`| ${instances} | ${perSecond} | ${begun.length} | ${away} | ${at(0.5)} | ${at(0.99)} |`);
    assert.equal(ended.length, orders);
    assert.ok(mayBeAway || away === 0, `${away} away`);
    // What was away has written nothing, and what begins is counted.
    assert.deepEqual(items.get('counter')?.state, { S: `${begun.length}` });
    assert.equal(items.size, begun.length + 1);
  });
