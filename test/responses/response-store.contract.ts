/** The contract of every response store. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import type { ResponseStore, StoredResponse } from '../../lib/cache/responses/index.ts';

const now = 1_795_239_000_000;
const body = (text: string) => new TextEncoder().encode(text);

export function answerStoreContract(
  name: string,
  create: (t: TestContext) => ResponseStore | Promise<ResponseStore>,
): void {
  const check = (what: string, run: (store: ResponseStore) => Promise<void>) =>
    test(`${name}: ${what}`, async (t) => run(await create(t)));

  check('what was never written is not there', async (store) => {
    assert.equal(await store.read('key'), undefined);
  });

  check('an answer comes back to the byte, the last one written', async (store) => {
    for (const text of ['[ ]', '{"a":1.10}', '\u{1F4C8}'.repeat(20_000)]) {
      const answer: StoredResponse = { kind: 'answer', body: body(text), askedAt: now };
      await store.write('key', answer, now + 60_000);
      const read = await store.read('key');
      assert.equal(read?.kind === 'answer' && new TextDecoder().decode(read.body), text);
      assert.equal(read?.askedAt, now);
    }
    assert.equal(await store.read('other'), undefined);
  });

  check('a refusal comes back as it was', async (store) => {
    const refusal = { code: 'upstream_rejected', status: 404, upstream: { message: 'Ä "no"' } };
    await store.write('key', { kind: 'refused', refusal, askedAt: now }, now + 1500);
    assert.deepEqual(await store.read('key'), { kind: 'refused', refusal, askedAt: now });
  });

  check('one of concurrent callers acquires the lease, the next one after its time', async (store) => {
    const asks = await Promise.all(Array.from({ length: 8 }, () => store.lease('key', now, now + 500)));
    assert.equal(asks.filter(Boolean).length, 1);
    assert.equal(await store.lease('other', now, now + 500), true);
    assert.equal(await store.lease('key', now + 499, now + 900), false);
    assert.equal(await store.lease('key', now + 500, now + 900), true);
    assert.equal(await store.lease('key', now + 600, now + 900), false);
  });

  check('a released lease is free, and so is the lease once the response is written', async (store) => {
    assert.equal(await store.lease('key', now, now + 500), true);
    await store.release('key', now + 100);
    assert.equal(await store.lease('key', now + 99, now + 500), false);
    assert.equal(await store.lease('key', now + 100, now + 500), true);
    await store.write('key', { kind: 'answer', body: body('1'), askedAt: now }, now + 1000);
    assert.equal(await store.lease('key', now, now + 500), true);
  });

  check(
    'an account has so many uses in a minute, whatever others use, and as many in the next',
    async (store) => {
      const minute = 60_000 * Math.floor(now / 60_000);
      const asks = await Promise.all(Array.from({ length: 8 }, () => store.countUse('a', minute, 5)));
      assert.equal(asks.filter(Boolean).length, 5);
      assert.equal(await store.countUse('a', minute + 59_999, 5), false);
      assert.equal(await store.countUse('b', minute, 5), true);
      assert.equal(await store.countUse('a', minute + 60_000, 5), true);
    },
  );

  check('what is too large for an item is left out', async (store) => {
    const noise = Uint8Array.from({ length: 450_000 }, () => 32 + Math.floor(Math.random() * 95));
    assert.equal(await store.lease('key', now, now + 500), true);
    await store.write('key', { kind: 'answer', body: noise, askedAt: now }, now + 1000);
    assert.equal(await store.lease('key', now, now + 500), true, 'its lease has ended');
    const read = await store.read('key');
    assert.ok(!read || (read.kind === 'answer' && read.body.length === noise.length));
  });
}
