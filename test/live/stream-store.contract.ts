/** What every store of streams must do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createStreamShares, type StreamStore } from '../../lib/live/stream-shares.ts';

const start = 1_795_239_000_000;
/** Of all of a caller's requests the same id: a client may choose it. */
export const requestOf = (unit = 'caller') => ({
  requestId: 'chosen by the client',
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
    const take = (unit?: string) => shares.take(requestOf(unit), start + 60_000);
    const [first, second, third] = [await take(), await take(), await take()];
    assert.ok(first && second && !third);
    assert.ok(await take('another'));
    await first();
    // The end of one stream frees the room of no other.
    await first();
    assert.ok(await take());
    assert.equal(await take(), undefined);
  });

  test(`${name}: what nobody freed is free when it would have ended`, async () => {
    const { shares, pass } = sharesOf(1);
    assert.ok(await shares.take(requestOf(), start + 60_000));
    pass(59_999);
    assert.equal(await shares.take(requestOf(), start + 120_000), undefined);
    pass(1);
    assert.ok(await shares.take(requestOf(), start + 120_000));
  });

  test(`${name}: of streams that begin at once no more than the share begin`, async () => {
    const { shares, store } = sharesOf(3);
    const atOnce = Array.from({ length: 12 }, () => shares.take(requestOf(), start + 60_000));
    const taken = await Promise.all(atOnce);
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
