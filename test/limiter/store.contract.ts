/** What every store of a limiter must do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { Addition, LimiterItem, LimiterStore } from '../../lib/limiter/index.ts';

let keys = 0;

const item = (revision: string, counters: LimiterItem['counters'] = { a: 0, 'b/now': 0 }): LimiterItem => ({
  revision,
  counters,
  text: `{"of":"${revision} ⚖ \\u0000"}`,
  writtenAt: Date.UTC(2026, 10, 17),
});

const plus = (counter: string, by: number, max = 1000, min = 0): Addition => ({
  counter,
  by,
  min,
  max,
});

const expiresAt = Date.UTC(2036, 0, 1);

type Check = (what: string, run: (store: LimiterStore, key: string) => Promise<void>) => void;

export function limiterStoreContract(name: string, storeOf: () => LimiterStore): void {
  const check: Check = (what, run) => test(`${name}: ${what}`, () => run(storeOf(), `contract#${++keys}`));
  checkItems(check);
  checkAdditions(check);
}

function checkItems(check: Check): void {
  check('there is no item at first, and nothing can be added to it', async (store, key) => {
    assert.equal(await store.read(key), undefined);
    assert.deepEqual(await store.add(key, 'r', [plus('a', 1)], 1), { written: false, item: undefined });
    assert.equal(await store.read(key), undefined);
  });

  check('an item is read as it was written', async (store, key) => {
    const first = item('r1', { a: 0, 'market-data/now': 7 });
    assert.deepEqual(await store.replace(key, undefined, first, expiresAt), { written: true, item: first });
    assert.deepEqual(await store.read(key), first);
    const second = item('r2', {});
    assert.deepEqual(await store.replace(key, first, second, expiresAt), { written: true, item: second });
    assert.deepEqual(await store.read(key), second);
    const third = item('r3');
    assert.equal((await store.replace(key, second, third, expiresAt)).written, true);
  });

  check('an item that is there, or another than was expected, is not replaced', async (store, key) => {
    const first = item('r1', { a: 3 });
    await store.replace(key, undefined, first, expiresAt);
    for (const expected of [
      undefined,
      item('r0', { a: 3 }),
      item('r1', { a: 2 }),
      item('r1', { a: 3, c: 0 }),
    ])
      assert.deepEqual(await store.replace(key, expected, item('r2'), expiresAt), {
        written: false,
        item: first,
      });
    assert.deepEqual(await store.read(key), first);
  });

  check('an item that has gone is not replaced', async (store, key) => {
    const answer = await store.replace(key, item('r1'), item('r2'), expiresAt);
    assert.deepEqual(answer, { written: false, item: undefined });
  });

  check(
    'of many that replace at once one succeeds, and the others receive the item as it is',
    async (store, key) => {
      const puts = Array.from({ length: 10 }, (_, index) =>
        store.replace(key, undefined, item(`r${index}`), expiresAt),
      );
      const answers = await Promise.all(puts);
      const [winner, ...others] = answers.filter(({ written }) => written);
      assert.ok(winner);
      assert.deepEqual(others, []);
      for (const { item: there } of answers) assert.deepEqual(there, winner.item);
    },
  );

  check('items are independent of each other', async (store, key) => {
    await store.replace(key, undefined, item('r1'), expiresAt);
    assert.equal(await store.read(`${key}0`), undefined);
    assert.equal((await store.replace(`${key}0`, undefined, item('r2'), expiresAt)).written, true);
    assert.equal((await store.read(key))?.revision, 'r1');
  });
}

function checkAdditions(check: Check): void {
  check('additions happen together and set the time of the write', async (store, key) => {
    await store.replace(key, undefined, item('r1', { a: 5, b: 0, c: 1 }), expiresAt);
    const answer = await store.add(key, 'r1', [plus('a', 2), plus('b', 3)], 42);
    const expected = { ...item('r1', { a: 7, b: 3, c: 1 }), writtenAt: 42 };
    assert.deepEqual(answer, { written: true, item: expected });
    assert.deepEqual(await store.read(key), expected);
  });

  check('all additions or none: bounds are of the value before, and belong to it', async (store, key) => {
    const before = item('r1', { a: 5, b: 0 });
    await store.replace(key, undefined, before, expiresAt);
    for (const additions of [
      [plus('a', 1, 4), plus('b', 1)],
      [plus('b', 1), plus('a', 1, 4)],
      [plus('b', 1), plus('a', 1, 9, 6)],
      [plus('b', 1), plus('none', 1)],
    ])
      assert.deepEqual(await store.add(key, 'r1', additions, 42), { written: false, item: before });
    assert.deepEqual(await store.add(key, 'r2', [plus('a', 1)], 42), { written: false, item: before });
    assert.deepEqual(await store.read(key), before);
    assert.equal((await store.add(key, 'r1', [plus('a', 1, 5, 5)], 42)).written, true);
  });

  check('of many that add at once exactly as many as fit succeed', async (store, key) => {
    await store.replace(key, undefined, item('r1', { a: 0, b: 0 }), expiresAt);
    const adding = Array.from({ length: 40 }, () =>
      store.add(key, 'r1', [plus('a', 1, 24), plus('b', 2)], 42),
    );
    const answers = await Promise.all(adding);
    const taken = answers.flatMap(({ written, item }) => (written ? [item?.counters.a] : []));
    assert.deepEqual(
      taken.sort((a, b) => a! - b!),
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
    assert.deepEqual((await store.read(key))?.counters, { a: 25, b: 50 });
  });
}
