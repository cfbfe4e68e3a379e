/** The directory: names, reads and what may be wrong with records. What operators change, and when it is seen, is model.test.ts. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type AccessAdmin, createAccessAdmin } from '../../lib/access/admin.ts';
import { createDirectory } from '../../lib/access/create-directory.ts';
import type { Standing } from '../../lib/access/directory.ts';
import type { Principal } from '../../lib/access/evidence.ts';
import { createIdentity, nameOfPrincipal } from '../../lib/access/identity.ts';
import { type AccessStore, createMemoryAccessStore } from '../../lib/access/store.ts';
import { each } from '../support/each.ts';

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
const user = { kind: 'user', issuer: 'https://issuer.example', subject: 'alice' } as const;
const other = { ...user, subject: 'bob' } as const;
const key = { kind: 'key', id: 'key-1' } as const;

/** A store that can be away, and counts how often it is read. */
function world() {
  const memory = createMemoryAccessStore();
  const state = { now: Date.UTC(2026, 10, 22, 15), isAway: false, reads: [] as (readonly string[])[] };
  const store: AccessStore = {
    ...memory,
    async read(keys) {
      state.reads.push(keys);
      if (state.isAway) throw new Error('away');
      return memory.read(keys);
    },
  };
  const clock = () => state.now;
  const admin: AccessAdmin = createAccessAdmin({ store: memory, identity, by: 'test', clock });
  const directory = createDirectory({ store, identity, clock });
  return { state, store, admin, directory };
}

const grant = (subject: Principal, ...accounts: string[]) =>
  ({ action: 'grant', subject, accounts, userData: false, scopes: ['read', 'trade'] }) as const;

const accountsOf = (standing: Standing) =>
  standing.kind === 'granted' ? [...standing.grants.accounts.keys()] : standing.kind;

const claims = (state: { now: number }) => ({
  id: 'token-1',
  clientId: 'app-1',
  issuedAt: Math.floor(state.now / 1000) - 60,
});

test('what is granted is there, under the keyed name; what is not is unknown', async () => {
  const { admin, directory } = world();
  await admin.apply(grant(user, 'A', 'B'));
  await admin.apply({ action: 'grant', subject: user, accounts: ['*'], userData: true, scopes: ['read'] });
  const standing = await directory.standing({ principal: user });
  assert.equal(standing.user, await nameOfPrincipal(identity.names, user));
  assert.match(standing.user, /^[\w-]{22}$/);
  assert.ok(standing.kind === 'granted');
  const { accounts } = standing.grants;
  assert.deepEqual([...(accounts.get('A') ?? [])], ['read', 'trade']);
  assert.deepEqual([...(accounts.get('*') ?? [])], ['read']);
  assert.equal(accounts.get('Z'), undefined);
  assert.deepEqual([...standing.grants.userData], ['read']);
  assert.equal((await directory.standing({ principal: other })).kind, 'unknown');
  assert.equal((await directory.standing({ principal: { ...user, issuer: 'x' } })).kind, 'unknown');
});

test('a record that cannot be read costs its subject alone the answer', async () => {
  const { admin, store } = world();
  await admin.apply(grant(user, 'A'));
  await admin.apply(grant(other, 'B'));
  const broken = await admin.nameOf(user);
  const directory = createDirectory({
    identity,
    store: {
      async read(keys) {
        const entries = [...(await store.read(keys))];
        return new Map(
          entries.map(([key, entry]) => [
            key,
            key.endsWith(broken) ? { ...entry, sealed: new Uint8Array(40) } : entry,
          ]),
        );
      },
    },
  });
  const token = { clientId: 'app-1', issuedAt: Math.floor(Date.now() / 1000) };
  // Both ask for the app at once, in one read.
  const [first, second] = await Promise.allSettled(
    [user, other].map((principal) => directory.standing({ principal, token })),
  );
  assert.equal(first?.status, 'rejected');
  assert.ok(second?.status === 'fulfilled');
  assert.deepEqual(accountsOf(second.value), ['B']);
});

test('a bound key has its user’s name and grants, in one read once they are known', async () => {
  const { admin, directory, state } = world();
  await admin.apply(grant(user, 'A'));
  await admin.apply({ action: 'bind', subject: key, user });
  const standing = await directory.standing({ principal: key });
  assert.deepEqual(accountsOf(standing), ['A']);
  assert.equal(standing.user, await nameOfPrincipal(identity.names, user));
  state.now += 30_000;
  state.reads = [];
  await directory.standing({ principal: key });
  assert.deepEqual(each(state.reads, 'length'), [2]);
  await admin.apply({ action: 'bind', subject: key, user: other });
  state.now += 30_000;
  assert.equal((await directory.standing({ principal: key })).kind, 'unknown');
});

test('a revocation is seen after 30 s, in an instance that has asked just before it', async () => {
  const { admin, directory, state } = world();
  await admin.apply(grant(user, 'A'));
  await directory.standing({ principal: user });
  await admin.apply({ action: 'block', subject: user });
  state.now += 29_999;
  assert.equal((await directory.standing({ principal: user })).kind, 'granted');
  state.now += 1;
  assert.equal((await directory.standing({ principal: user })).kind, 'revoked');
  assert.equal(state.reads.length, 2);
});

test('the age counts from before the read, which may be slow', async () => {
  const { admin, state, store } = world();
  await admin.apply(grant(user, 'A'));
  const slow: Pick<AccessStore, 'read'> = {
    async read(keys) {
      const entries = await store.read(keys);
      state.now += 20_000;
      return entries;
    },
  };
  const directory = createDirectory({ store: slow, identity, clock: () => state.now });
  await directory.standing({ principal: user });
  await admin.apply({ action: 'block', subject: user });
  state.now += 10_000;
  assert.equal((await directory.standing({ principal: user })).kind, 'revoked');
});

test('an away store is asked once in a second for what memory has', async () => {
  const { admin, directory, state } = world();
  await admin.apply(grant(user, 'A'));
  await directory.standing({ principal: user });
  state.now += 30_000;
  state.isAway = true;
  state.reads = [];
  for (let left = 10; left > 0; left--) await directory.standing({ principal: user });
  assert.equal(state.reads.length, 1);
  state.now += 1000;
  await directory.standing({ principal: user });
  assert.equal(state.reads.length, 2);
});

test('concurrent requests for one user share a read, and each of its parts is asked for once', async () => {
  const { admin, directory, state } = world();
  await admin.apply(grant(user, 'A'));
  const token = claims(state);
  const all = await Promise.all(
    Array.from({ length: 50 }, () => directory.standing({ principal: user, token })),
  );
  assert.deepEqual([...new Set(all.map(({ kind }) => kind))], ['granted']);
  assert.deepEqual(each(state.reads, 'length'), [3]);
  await directory.standing({ principal: user, token: { ...token, id: 'token-2' } });
  assert.deepEqual(state.reads.at(-1)?.length, 1);
});

test('a clock that was set back makes nothing younger', async () => {
  const { admin, directory, state } = world();
  await admin.apply(grant(user, 'A'));
  await directory.standing({ principal: user });
  state.now -= 3_600_000;
  await admin.apply({ action: 'block', subject: user });
  assert.equal((await directory.standing({ principal: user })).kind, 'revoked');
  state.now -= 3_600_000;
  state.isAway = true;
  await assert.rejects(directory.standing({ principal: user }));
});

test('memory is bounded: the principals that were asked for last stay', async () => {
  const { state, store } = world();
  // Each takes 300 bytes: nothing is recorded of them.
  const directory = createDirectory({ store, identity, clock: () => state.now, maxCachedBytes: 30_000 });
  const ask = (index: number) => directory.standing({ principal: { ...user, subject: `user-${index}` } });
  for (let index = 0; index < 200; index++) await ask(index);
  state.reads = [];
  for (let index = 199; index >= 0; index--) await ask(index);
  assert.equal(state.reads.length, 100);
});

test('a record of another identity key, of another entry, or of a later format rejects', async () => {
  const { state } = world();
  const memory = createMemoryAccessStore();
  const mine = createAccessAdmin({ store: memory, identity, by: 'test' });
  await mine.apply(grant(user, 'A'));
  await mine.apply(grant(other, 'B'));
  const [first, second] = await memory.list();
  assert.ok(first && second);
  const stranger = createIdentity(async () => 'another-identity-key-of-a-test-012345');
  const later = await identity.sealer.seal(new TextEncoder().encode('{"format":2}'), first.key);
  for (const sealed of [
    second.sealed,
    later,
    await stranger.sealer.seal(new TextEncoder().encode('{"format":1}'), first.key),
    first.sealed.slice(0, -1),
  ]) {
    const store = { read: async () => new Map([[first.key, { ...first, sealed }]]) };
    const directory = createDirectory({ store, identity, clock: () => state.now });
    await assert.rejects(directory.standing({ principal: user }));
  }
});
