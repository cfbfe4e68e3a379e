/** Names under the identity key, its seal, and one name for an AWS identity. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'vitest';
import { type Principal, principalArn } from '../../lib/access/evidence.ts';
import { createIdentity, nameOfPrincipal } from '../../lib/access/identity.ts';

const key = 'an-identity-key-of-a-test-0123456789';
const identity = createIdentity(async () => key);

test('a name is the first half of the HMAC-SHA-256 of the texts, as an independent form of it says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('user', 'app', 'account', 'token'),
      fc.array(fc.string({ unit: 'binary' })),
      async (kind, texts) => {
        const mac = createHmac('sha256', key)
          .update(JSON.stringify([kind, ...texts]))
          .digest();
        assert.equal(await identity.names.nameOf(kind, ...texts), mac.subarray(0, 16).toString('base64url'));
      },
    ),
  );
});

test('no two principals, and no two kinds of name, have one name', async () => {
  const principals: readonly Principal[] = [
    { kind: 'user', issuer: 'a', subject: 'b' },
    { kind: 'user', issuer: 'b', subject: 'a' },
    { kind: 'user', issuer: 'a","b', subject: '' },
    { kind: 'user', issuer: 'ab', subject: '' },
    { kind: 'key', id: 'a' },
    { kind: 'iam', arn: 'a' },
    { kind: 'source', name: 'a' },
  ];
  const names = await Promise.all([
    ...principals.map((one) => nameOfPrincipal(identity.names, one)),
    ...(['user', 'app', 'account', 'token'] as const).map((kind) => identity.names.nameOf(kind, 'a')),
  ]);
  assert.equal(new Set(names).size, names.length);
  const other = createIdentity(async () => `${key}-`);
  assert.notEqual(await other.names.nameOf('account', 'a'), await identity.names.nameOf('account', 'a'));
});

test('what is sealed opens with the same key, about the same thing, and unchanged alone', async () => {
  const bytes = new TextEncoder().encode('canary');
  const sealed = await identity.sealer.seal(bytes, 'a');
  assert.deepEqual(await identity.sealer.open(sealed, 'a'), bytes);
  assert.deepEqual(await createIdentity(async () => key).sealer.open(sealed, 'a'), bytes);
  assert.equal(await identity.sealer.open(sealed, 'b'), undefined);
  assert.equal(await createIdentity(async () => `${key}-`).sealer.open(sealed, 'a'), undefined);
  for (let index = 0; index < sealed.length; index++) {
    const changed = Uint8Array.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.equal(await identity.sealer.open(changed, 'a'), undefined);
  }
  assert.notDeepEqual(await identity.sealer.seal(bytes, 'a'), sealed);
});

test('the key is read once, when it is needed, and again after a failure; a short one is refused', async () => {
  let reads = 0;
  const answers = [() => Promise.reject(new Error('away')), async () => key];
  const read = createIdentity(() => answers[reads++]?.() ?? Promise.reject(new Error('read too often')));
  assert.equal(reads, 0);
  await assert.rejects(read.names.nameOf('user', 'a'), /away/);
  const sealed = await read.sealer.seal(new Uint8Array(), 'a');
  assert.ok(await identity.sealer.open(sealed, 'a'));
  await read.names.nameOf('user', 'a');
  assert.equal(reads, 2);
  const short = createIdentity(async () => 'x'.repeat(31));
  await assert.rejects(short.names.nameOf('user', 'a'), TypeError);
  await assert.rejects(short.sealer.seal(new Uint8Array(), 'a'), TypeError);
  await assert.rejects(short.sealer.open(sealed, 'a'), TypeError);
});

test('an assumed role is its role, with or without a path; all else is as it is', () => {
  const role = 'arn:aws:iam::123456789012:role/traders';
  for (const [arn, name] of [
    ['arn:aws:sts::123456789012:assumed-role/traders/i-0abc', role],
    ['arn:aws:iam::123456789012:role/traders', role],
    ['arn:aws:iam::123456789012:role/a/b/traders', role],
    [
      'arn:aws-cn:sts::123456789012:assumed-role/traders/a@b.example',
      'arn:aws-cn:iam::123456789012:role/traders',
    ],
    ['arn:aws:iam::123456789012:user/path/alice', 'arn:aws:iam::123456789012:user/path/alice'],
    ['arn:aws:iam::123456789012:root', 'arn:aws:iam::123456789012:root'],
    ['arn:aws:sts::123456789012:federated-user/alice', 'arn:aws:sts::123456789012:federated-user/alice'],
    ['arn:aws:sts::123456789012:assumed-role/traders', 'arn:aws:sts::123456789012:assumed-role/traders'],
    // A role's name is never read out of another's path or session.
    [
      'arn:aws:sts::123456789012:assumed-role/other/x/traders',
      'arn:aws:sts::123456789012:assumed-role/other/x/traders',
    ],
    ['', ''],
  ] as const)
    assert.equal(principalArn(arn), name, arn);
});
