/** What every store of streams must do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createStreamShares, type StreamStore } from '../../lib/live/stream-shares.ts';

const start = 1_795_239_000_000;
export const requestOf = (requestId: string, unit = 'caller') => ({
  requestId,
  caller: { unit },
  method: 'GET',
  path: '/',
  query: [],
  headers: {},
});

export function streamStoreContract(name: string, create: () => StreamStore): void {
  const sharesOf = (max: number) => {
    const store = create();
    let now = start;
    const shares = createStreamShares(store, { max, clock: () => now });
    return { store, shares, pass: (ms: number) => (now += ms) };
  };

  test(`${name}: a caller has so many streams and no more, another one has its own`, async () => {
    const { shares } = sharesOf(2);
    const take = (id: string, unit?: string) => shares.take(requestOf(id, unit), start + 60_000);
    assert.deepEqual([await take('a'), await take('b'), await take('c')], [true, true, false]);
    assert.equal(await take('c', 'another'), true);
    await shares.free(requestOf('a'));
    await shares.free(requestOf('of nobody'));
    assert.deepEqual([await take('c'), await take('d')], [true, false]);
  });

  test(`${name}: what nobody freed is free when it would have ended`, async () => {
    const { shares, pass } = sharesOf(1);
    assert.equal(await shares.take(requestOf('a'), start + 60_000), true);
    pass(59_999);
    assert.equal(await shares.take(requestOf('b'), start + 120_000), false);
    pass(1);
    assert.equal(await shares.take(requestOf('b'), start + 120_000), true);
  });

  test(`${name}: of streams that begin at once no more than the share begin`, async () => {
    const { shares, store } = sharesOf(3);
    const ids = Array.from({ length: 12 }, (_, index) => `at once ${index}`);
    const taken = await Promise.all(ids.map((id) => shares.take(requestOf(id), start + 60_000)));
    const count = taken.filter((one) => one).length;
    assert.ok(count >= 1 && count <= 3, `${count}`);
    assert.equal((await store.read('caller')).until.size, count);
  });

  test(`${name}: a write over another revision is refused`, async () => {
    const store = create();
    const until = new Map([['a', start]]);
    assert.equal(await store.write('caller', { revision: 1, until }), true);
    assert.equal(await store.write('caller', { revision: 1, until: new Map() }), false);
    assert.deepEqual(await store.read('caller'), { revision: 1, until });
  });
}
