import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createMemoryNonceStore, createVerifier, type NonceStore } from '../../lib/verifier/index.ts';
import { received, withHeaders } from '../support/received.ts';
import { appKey, appSecret, now } from '../support/signing.ts';

test('a nonce is taken once, for each app key by itself', () => {
  const store = createMemoryNonceStore({ clock: () => 0 });
  assert.equal(store.add('a', 'n', 1000), true);
  assert.equal(store.add('a', 'n', 1000), false);
  assert.equal(store.add('b', 'n', 1000), true);
  assert.equal(store.add('a', 'm', 1000), true);
});

test('key and nonce do not run into each other', () => {
  const store = createMemoryNonceStore({ clock: () => 0 });
  for (const [key, nonce] of [
    ['ab', 'c'],
    ['a', 'bc'],
    ['a","b', 'c'],
    ['a', 'b","c'],
    ['a\n', 'b'],
    ['a', '\nb'],
  ] as const)
    assert.equal(store.add(key, nonce, 1000), true, `${key} ${nonce}`);
});

test('it is free again when it expires, not before', () => {
  let time = 0;
  const store = createMemoryNonceStore({ clock: () => time });
  store.add('a', 'n', 1000);
  time = 999;
  assert.equal(store.add('a', 'n', 2000), false);
  time = 1000;
  assert.equal(store.add('a', 'n', 2000), true);
  time = 1999;
  assert.equal(store.add('a', 'n', 3000), false);
});

test('full, it takes nothing new until something expires, and forgets nothing', () => {
  let time = 0;
  const store = createMemoryNonceStore({ clock: () => time, maxEntries: 2 });
  assert.equal(store.add('a', '1', 1000), true);
  assert.equal(store.add('a', '2', 2000), true);
  assert.equal(store.add('a', '3', 3000), false);
  assert.equal(store.add('a', '1', 3000), false);
  time = 1000;
  assert.equal(store.add('a', '3', 3000), true);
  assert.equal(store.add('a', '2', 3000), false);
  assert.equal(store.add('a', '4', 3000), false);
});

const secretOf = () => appSecret;

test('a nonce is stored for as long as its request is in time', async () => {
  let time = now - 300_000;
  const verifier = createVerifier({ secretOf, clock: () => time });
  const request = await received();
  assert.equal((await verifier.verify(request)).ok, true);
  for (time of [now, now + 299_000, now + 300_000])
    assert.deepEqual(await verifier.verify(request), {
      ok: false,
      code: 'nonce_reused',
      detail: 'each request wants a new nonce',
    });
  time = now + 300_001;
  const late = await verifier.verify(request);
  assert.equal(late.ok || late.code, 'clock_skew');
});

test('of two at once one is taken', async () => {
  const verifier = createVerifier({ secretOf, clock: () => now });
  const request = await received();
  const verdicts = await Promise.all(Array.from({ length: 8 }, () => verifier.verify(request)));
  assert.equal(verdicts.filter(({ ok }) => ok).length, 1);
});

test('who has no secret cannot fill the store', async () => {
  const calls: string[] = [];
  const nonces: NonceStore = {
    add: async (key, nonce) => {
      calls.push(`${key} ${nonce}`);
      return true;
    },
  };
  const verifier = createVerifier({ secretOf, clock: () => now, nonces });
  const request = await received();
  assert.equal((await verifier.verify(withHeaders(request, { 'x-signature-nonce': 'x' }))).ok, false);
  assert.deepEqual(calls, []);
  assert.equal((await verifier.verify(request)).ok, true);
  assert.deepEqual(calls, [`${appKey} ${request.headers['x-signature-nonce']}`]);
});

test('a store that cannot promise refuses', async () => {
  const verifier = createVerifier({ secretOf, clock: () => now, nonces: { add: async () => false } });
  const verdict = await verifier.verify(await received());
  assert.equal(verdict.ok || verdict.code, 'nonce_reused');
});
