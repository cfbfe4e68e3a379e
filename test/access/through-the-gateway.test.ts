/** What an operator changes, seen by people's requests through the real gateway: who may order, until when, and in which words. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createDirectory } from '../../lib/access/create-directory.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import { streamStockSnapshots } from '../../lib/catalogue/live-quotes.ts';
import { createMemoryCacheStores } from '../../lib/gateway/cache-options.ts';
import { createCore } from '../../lib/gateway/core.ts';
import type { SenderEvidence } from '../../lib/gateway/index.ts';
import { accessStep } from '../../lib/gateway/who.ts';
import { liveStep } from '../../lib/live/live-step.ts';
import { claimsOf, issuer } from '../support/access.ts';
import { accountId, coreFor, orderBody, orderPath, requestOf, secretText } from '../support/core.ts';

const alice = { kind: 'user', issuer, subject: 'canary-alice' } as const;
const key = { kind: 'key', id: 'canary-key' } as const;
const rights = { accounts: [accountId], userData: false, scopes: ['read', 'trade'] } as const;

async function worldFor(t: TestContext) {
  const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
  const memory = createMemoryAccessStore();
  const state = { now: Date.UTC(2026, 10, 22, 15), isAway: false };
  const clock = () => state.now;
  const read: typeof memory.read = (keys) =>
    state.isAway ? Promise.reject(new Error('away')) : memory.read(keys);
  const directory = createDirectory({ store: { read }, identity, clock });
  const core = await coreFor(t, {}, { access: { directory, names: identity.names } });
  /** @returns status and code, and how many requests came to the upstream */
  const order = async (evidence: SenderEvidence) => {
    const before = core.simulator.received.length;
    const { status, body: bytes } = await core.gateway.handle({
      ...requestOf(orderPath, { body: orderBody() }),
      evidence,
    });
    const { code } = JSON.parse(new TextDecoder().decode(bytes)) as { code?: string };
    const sent = core.simulator.received.length - before;
    assert.equal(sent, status === 200 ? 1 : 0, 'a refusal asks the upstream nothing');
    return status === 200 ? 200 : `${status} ${code}`;
  };
  const streams = createCore({
    operations: [streamStockSnapshots],
    access: accessStep({ directory, names: identity.names, userGroups: [streamStockSnapshots.group] }),
    cache: liveStep({
      snapshots: createMemoryCacheStores().snapshots,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
    }),
    upstreamBaseUrl: 'https://upstream.invalid',
    secrets: { read: async () => secretText() },
    send: async () => ({
      kind: 'answer',
      status: 200,
      header: () => undefined,
      body: new TextEncoder().encode('[{"symbol":"A","price":"1"}]'),
    }),
    clock,
  });
  /** A stream of quotes. @returns the name and the data of its next event */
  const follow = async (evidence: SenderEvidence) => {
    const target = `${streamStockSnapshots.path}?symbols=A&category=US_STOCK`;
    const { status, stream } = await streams.handle({ ...requestOf(target), evidence });
    assert.ok(stream, String(status));
    const texts = stream[Symbol.asyncIterator]();
    t.onTestFinished(async () => void (await texts.return?.()));
    return async () => {
      const { value = '' } = await texts.next();
      return [/^event: (.*)$/m.exec(value)?.[1], JSON.parse(/^data: (.*)$/m.exec(value)?.[1] ?? '{}')];
    };
  };
  const admin = createAccessAdmin({ store: memory, identity, by: 'test', clock });
  return { ...core, state, admin, order, follow };
}

const token = { claims: claimsOf(alice.subject, { tokenId: 'canary-token' }) };

test('each way to revoke stops the orders of a token within 60 s, in a gateway that is warm; undone, they go on', async (t) => {
  const { admin, order, state } = await worldFor(t);
  assert.equal(await order(token), '403 account_not_granted');
  await admin.apply({ action: 'grant', subject: alice, ...rights });
  state.now += 30_000;
  for (const [revocation, undone] of [
    [
      { action: 'block', subject: alice },
      { action: 'unblock', subject: alice },
    ],
    [
      { action: 'block', subject: { kind: 'app', id: 'the-app' } },
      { action: 'unblock', subject: { kind: 'app', id: 'the-app' } },
    ],
    [
      { action: 'block', subject: { kind: 'token', id: 'canary-token' } },
      { action: 'unblock', subject: { kind: 'token', id: 'canary-token' } },
    ],
  ] as const) {
    assert.equal(await order(token), 200);
    await admin.apply(revocation);
    state.now += 30_000;
    assert.equal(await order(token), '401 invalid_token');
    await admin.apply(undone);
    state.now += 30_000;
  }
  await admin.apply({ action: 'revoke', subject: alice, ...rights, scopes: ['trade'] });
  state.now += 30_000;
  assert.equal(await order(token), '403 insufficient_scope');
  await admin.apply({ action: 'grant', subject: alice, ...rights });
  await admin.apply({ action: 'sign-out', subject: alice, notBefore: token.claims.issuedAt + 1 });
  state.now += 30_000;
  assert.equal(await order(token), '401 invalid_token');
  assert.equal(await order({ claims: { ...token.claims, issuedAt: token.claims.issuedAt + 1 } }), 200);
});

test('a stream of quotes that is open ends within 60 s of a revocation, with its words', async (t) => {
  const { admin, follow, state } = await worldFor(t);
  for (const [kind, id] of [
    ['token', 'canary-token'],
    ['app', 'the-app'],
    ['user', undefined],
  ] as const) {
    const subject = id === undefined ? alice : ({ kind, id } as const);
    const next = await follow(token);
    assert.equal((await next())[0], 'snapshot');
    state.now += 30_000;
    assert.notEqual((await next())[0], 'end');
    await admin.apply({ action: 'block', subject });
    state.now += 30_000;
    const [name, { reason, code }] = await next();
    assert.deepEqual([name, reason, code], ['end', 'revoked', 'invalid_token'], kind);
    assert.equal((await next())[0], undefined);
    await admin.apply({ action: 'unblock', subject });
    state.now += 30_000;
  }
});

test('a stream of quotes goes on while the gateway cannot read who may have it', async (t) => {
  const { follow, state, admin } = await worldFor(t);
  const next = await follow(token);
  assert.equal((await next())[0], 'snapshot');
  state.isAway = true;
  for (let minutes = 0; minutes < 3; minutes++) {
    state.now += 60_000;
    assert.notEqual((await next())[0], 'end');
  }
  await admin.apply({ action: 'block', subject: alice });
  state.isAway = false;
  state.now += 30_000;
  assert.equal((await next())[0], 'end');
});

test('a bound key orders as its user, until the user is blocked', async (t) => {
  const { admin, order, state, reports } = await worldFor(t);
  assert.equal(await order({ apiKeyId: key.id }), '403 forbidden');
  await admin.apply({ action: 'grant', subject: alice, ...rights });
  await admin.apply({ action: 'bind', subject: key, user: alice });
  state.now += 30_000;
  assert.equal(await order({ apiKeyId: key.id }), 200);
  assert.equal(reports.at(-1)?.user, (await admin.find(alice))?.name);
  await admin.apply({ action: 'block', subject: alice });
  state.now += 30_000;
  assert.equal(await order({ apiKeyId: key.id }), '403 forbidden');
  assert.ok(!JSON.stringify(reports).includes('canary'));
});

test('without its store the directory holds for 60 s, and then no order is sent', async (t) => {
  const { admin, order, state } = await worldFor(t);
  await admin.apply({ action: 'grant', subject: alice, ...rights });
  assert.equal(await order(token), 200);
  await admin.apply({ action: 'block', subject: alice });
  state.isAway = true;
  state.now += 59_999;
  assert.equal(await order(token), 200);
  state.now += 1;
  assert.equal(await order(token), '503 access_unavailable');
  state.isAway = false;
  assert.equal(await order(token), '401 invalid_token');
});
