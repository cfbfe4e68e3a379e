/** What a record is after a change, and which changes are refused. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { AccessChangeError, applyChange, type GrantChange } from '../../lib/access/change.ts';
import type { AccessRecord } from '../../lib/access/records.ts';

const user = { kind: 'user', issuer: 'https://issuer.example', subject: 'alice' } as const;
const key = { kind: 'key', id: 'key-1' } as const;
const all = { accounts: ['B', 'A', '*'], userData: true, scopes: ['write', 'read', 'read'] } as const;

const after = (record: AccessRecord | undefined, ...changes: readonly GrantChange[]) =>
  changes.reduce(applyChange, record);

test('rights are kept in one order, each once, so that equal rights are equal records', () => {
  const record = after(undefined, { action: 'grant', subject: key, ...all });
  const scopes = ['read', 'write'];
  const accounts = ['*', 'A', 'B'].map((account) => [account, scopes]);
  assert.deepEqual(record, { principal: key, accounts, userData: scopes });
  assert.deepEqual(after(record, { action: 'grant', subject: key, ...all }), record);
});

test('a record that says nothing is removed', () => {
  const granted = after(undefined, { action: 'grant', subject: key, ...all });
  assert.equal(after(granted, { action: 'revoke', subject: key, ...all, scopes: [] }), undefined);
  assert.equal(after(granted, { action: 'revoke-all', subject: key }), undefined);
  for (const [one, other] of [
    [
      { action: 'block', subject: key },
      { action: 'unblock', subject: key },
    ],
    [
      { action: 'bind', subject: key, user },
      { action: 'unbind', subject: key },
    ],
    [
      { action: 'block', subject: { kind: 'app', id: 'a' } },
      { action: 'unblock', subject: { kind: 'app', id: 'a' } },
    ],
  ] as const) {
    assert.ok(after(undefined, one));
    assert.equal(after(undefined, one, other), undefined);
    assert.equal(after(undefined, other), undefined);
  }
});

test('to revoke every account takes the accounts that were granted by name, too', () => {
  const every = { action: 'revoke', subject: key, accounts: ['*'], userData: false, scopes: [] } as const;
  const granted = after(undefined, { action: 'grant', subject: key, ...all, scopes: ['read', 'trade'] });
  assert.deepEqual(after(granted, { ...every, scopes: ['trade'] }), {
    principal: key,
    accounts: ['*', 'A', 'B'].map((account) => [account, ['read']]),
    userData: ['read', 'trade'],
  });
  assert.deepEqual(after(granted, every), { principal: key, accounts: [], userData: ['read', 'trade'] });
});

test('a change leaves alone what it is not about', () => {
  const block = { action: 'block', subject: key } as const;
  const bind = { action: 'bind', subject: key, user } as const;
  const bound = after(undefined, bind);
  assert.deepEqual(after(undefined, bind, block, { action: 'unblock', subject: key }), bound);
  assert.deepEqual(
    after(undefined, bind, block, { action: 'unbind', subject: key }),
    after(undefined, block),
  );
  const signOut = { action: 'sign-out', subject: user, notBefore: 100 } as const;
  const out = after(undefined, signOut);
  assert.deepEqual(out, { principal: user, accounts: [], userData: [], notBefore: 100 });
  const more: GrantChange[] = [
    { ...signOut, notBefore: 99 },
    { action: 'block', subject: user },
    { action: 'unblock', subject: user },
    { action: 'grant', subject: user, ...all },
    { action: 'revoke-all', subject: user },
    { action: 'unbind', subject: user },
  ];
  assert.deepEqual(after(out, ...more), out);
});

test('what would not mean what it says is refused', () => {
  const bind = { action: 'bind', subject: key, user } as const;
  const userData = { action: 'grant', subject: key, accounts: [], userData: true, scopes: ['read'] } as const;
  const account = { ...userData, accounts: ['A'], userData: false } as const;
  for (const changes of [
    [bind, account],
    [bind, userData],
    [account, bind],
    [userData, bind],
    [{ ...bind, subject: user }],
  ])
    assert.throws(
      () => after(undefined, ...changes),
      (error) => error instanceof AccessChangeError && error.code === 'change_refused',
    );
  assert.ok(after(undefined, bind, { ...bind, user: { ...user, subject: 'bob' } }));
});
