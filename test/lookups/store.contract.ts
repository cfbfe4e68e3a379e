/** The contract of every store of lookups. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { ClaimCall, LookupStore } from '../../lib/lookups/index.ts';

let ids = 0;
const now = Date.UTC(2036, 0, 1);

const call = (id: string, change: Partial<ClaimCall> = {}): ClaimCall => ({
  id,
  hash: 'h',
  owner: 'one',
  now,
  leaseUntil: now + 1000,
  expiresAt: now + 60_000,
  ...change,
});

const reply = { detailType: 'QuoteLookupCompleted', details: ['{"a":"1.10 ⚖"}', '{"b":1.10}'] };

export function lookupStoreContract(name: string, storeOf: () => LookupStore): void {
  const check = (what: string, run: (store: LookupStore, id: string) => Promise<void>) =>
    test(`${name}: ${what}`, () => run(storeOf(), `contract-${++ids}`));

  check('one owner acquires a request, and another one when the lease has expired', async (store, id) => {
    assert.deepEqual(await store.claim(call(id)), { kind: 'acquired' });
    const other = call(id, { owner: 'two', now: now + 999, leaseUntil: now + 1999 });
    assert.deepEqual(await store.claim(other), { kind: 'in_progress', until: now + 1000 });
    assert.deepEqual(await store.claim({ ...other, now: now + 1000 }), { kind: 'acquired' });
    const third = call(id, { owner: 'three', now: now + 1001, leaseUntil: now + 3000 });
    assert.deepEqual(await store.claim(third), { kind: 'in_progress', until: now + 1999 });
  });

  check('the same owner acquires it again, with the reply that it saved', async (store, id) => {
    await store.claim(call(id));
    assert.deepEqual(await store.claim(call(id)), { kind: 'acquired' });
    assert.equal(await store.saveReply(id, 'one', reply), 'saved');
    assert.deepEqual(await store.claim(call(id)), { kind: 'acquired', reply });
  });

  check('of many at once one acquires it', async (store, id) => {
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, index) => store.claim(call(id, { owner: `owner-${index}` }))),
    );
    assert.equal(claims.filter(({ kind }) => kind === 'acquired').length, 1);
    assert.equal(claims.filter(({ kind }) => kind === 'in_progress').length, 11);
    const later = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        store.claim(call(id, { owner: `later-${index}`, now: now + 1000, leaseUntil: now + 2000 })),
      ),
    );
    assert.equal(later.filter(({ kind }) => kind === 'acquired').length, 1);
  });

  check('a saved reply comes back unchanged, until it is completed and after', async (store, id) => {
    await store.claim(call(id));
    assert.equal(await store.saveReply(id, 'one', reply), 'saved');
    const other = call(id, { owner: 'two' });
    assert.equal((await store.claim(other)).kind, 'in_progress');
    assert.deepEqual(await store.claim({ ...other, now: now + 1000 }), { kind: 'acquired', reply });
    await store.complete(id, now);
    assert.deepEqual(await store.claim(call(id, { owner: 'three' })), { kind: 'completed', reply });
  });

  check('account data comes back as such', async (store, id) => {
    const orders = { ...reply, isAccountData: true as const };
    await store.claim(call(id));
    assert.equal(await store.saveReply(id, 'one', orders), 'saved');
    assert.deepEqual(await store.claim(call(id)), { kind: 'acquired', reply: orders });
    await store.complete(id, now);
    assert.deepEqual(await store.claim(call(id, { owner: 'two' })), { kind: 'completed', reply: orders });
  });

  check('one reply is saved: the owner’s, and not a second', async (store, id) => {
    assert.equal(await store.saveReply(id, 'one', reply), 'lost');
    await store.claim(call(id));
    assert.equal(await store.saveReply(id, 'two', reply), 'lost');
    assert.equal(await store.saveReply(id, 'one', reply), 'saved');
    assert.equal(await store.saveReply(id, 'one', { ...reply, details: ['{}'] }), 'lost');
    const taken = await store.claim(call(id, { owner: 'two', now: now + 1000, leaseUntil: now + 2000 }));
    assert.deepEqual(taken, { kind: 'acquired', reply });
  });

  check('another request with the id is a conflict in every state', async (store, id) => {
    const other = call(id, { hash: 'g', owner: 'two', now: now + 1000 });
    await store.claim(call(id));
    assert.deepEqual(await store.claim(other), { kind: 'conflict' });
    await store.saveReply(id, 'one', reply);
    assert.deepEqual(await store.claim(other), { kind: 'conflict' });
    await store.complete(id, now);
    assert.deepEqual(await store.claim(other), { kind: 'conflict' });
  });

  check('a released request can be acquired at once, and only its owner releases it', async (store, id) => {
    await store.claim(call(id));
    await store.release(id, 'two');
    assert.equal((await store.claim(call(id, { owner: 'two' }))).kind, 'in_progress');
    await store.release(id, 'one');
    assert.deepEqual(await store.claim(call(id, { owner: 'two' })), { kind: 'acquired' });
    await store.release('never-there', 'one');
    await store.complete('never-there', now);
    assert.deepEqual(await store.claim(call(`${id}-other`)), { kind: 'acquired' });
  });

  check('an expired request counts as none, although the store may still contain it', async (store, id) => {
    await store.claim(call(id));
    await store.saveReply(id, 'one', reply);
    await store.complete(id, now);
    const later = call(id, { hash: 'g', owner: 'two', now: now + 60_000, expiresAt: now + 120_000 });
    assert.deepEqual(await store.claim({ ...later, now: now + 59_000 }), { kind: 'conflict' });
    assert.deepEqual(await store.claim(later), { kind: 'acquired' });
    assert.equal(await store.saveReply(id, 'two', reply), 'saved');
  });
}
