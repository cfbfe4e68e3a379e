/** Account data by event, through the real gateway and a real directory: who has been granted nothing gets nothing. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { readsOf } from '../../functions/settings/lookup-settings.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createDirectory } from '../../lib/access/create-directory.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { getAccountBalance, openable, operations } from '../../lib/catalogue/index.ts';
import { requesters } from '../../lib/events/index.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import { lookUpDirectly } from '../../lib/lookups/index.ts';
import { accountId, credentials, secretText } from '../support/core.ts';
import { each } from '../support/each.ts';
import { createWorld, type Reply } from './world.ts';

const accountReads = readsOf(operations, openable.filter(isAccountData));
/** What a requester is told who has not been granted it. */
const refusals = ['forbidden', 'account_not_granted', 'insufficient_scope'];

async function startWorld(t: TestContext) {
  const simulator = await startSimulator(credentials);
  t.onTestFinished(() => simulator.close());
  const store = createMemoryAccessStore();
  const identity = createIdentity(async () => 'k'.repeat(32));
  const world = createWorld({
    gateway: createGateway({
      operations,
      upstreamBaseUrl: simulator.url,
      secrets: { read: async () => secretText() },
      access: { directory: createDirectory({ store, identity }), names: identity.names },
    }),
    names: identity.names,
  });
  world.now = Date.now();
  const admin = createAccessAdmin({ store, identity, by: 'test' });
  return {
    simulator,
    world,
    async grant(name: string, ...accounts: readonly string[]) {
      const subject = { kind: 'source', name } as const;
      await admin.apply({ action: 'grant', subject, accounts, userData: true, scopes: ['read'] });
    },
    /** @param source undefined for a request that is sent to the queue */
    async ask(
      source: string | undefined,
      request: { readonly request_id: string; readonly operation: string },
    ): Promise<Reply> {
      world.send(
        source === undefined ? request : { 'detail-type': 'ReadRequested', source, detail: request },
      );
      while (world.queue.length > 0) assert.equal(await world.deliver(), 1, 'it does not wait');
      const replies = world.repliesTo(request.request_id);
      const reply = replies.find(({ detail }) => detail.requester === (source ?? requesters.queue));
      assert.ok(reply, JSON.stringify(replies));
      return reply;
    },
  };
}

const balanceOf = (account: string, request_id = `balance-${account}`) => ({
  request_id,
  operation: getAccountBalance.id,
  query: { account_id: account },
});

test('each read of account data: refused without a call for a source without a grant, made for one with it', async (t) => {
  const { simulator, world, grant, ask } = await startWorld(t);
  await grant('reports', '*');
  const asked = ({ id, example }: (typeof accountReads)[number]) => ({
    request_id: `read-${id}`,
    operation: id,
    ...example,
  });
  assert.ok(accountReads.length >= 8, `${accountReads.length}`);
  for (const operation of accountReads) {
    for (const source of ['alerts', undefined, 'aws.events']) {
      const { type, detail } = await ask(source, asked(operation));
      assert.deepEqual([type, refusals.includes(String(detail.code))], ['ReadFailed', true], operation.id);
    }
    const { failure, detail } = await lookUpDirectly(world.options, asked(operation), world.now + 25_000);
    assert.ok(refusals.includes(failure?.code ?? ''), detail);
  }
  assert.deepEqual(simulator.received, []);
  for (const operation of accountReads) {
    const before: number = simulator.received.length;
    const { detail } = await ask('reports', asked(operation));
    assert.ok(!refusals.includes(String(detail.code)), JSON.stringify(detail));
    assert.equal(simulator.received.length, before + 1, operation.id);
  }
});

test('a source reads the accounts that it has been granted, and no other', async (t) => {
  const { simulator, grant, ask } = await startWorld(t);
  await grant('reports', accountId);
  assert.equal((await ask('reports', balanceOf(accountId))).type, 'ReadCompleted');
  const calls = simulator.received.length;
  const foreign = await ask('reports', balanceOf('SOMEBODY-ELSES'));
  assert.deepEqual(
    [foreign.type, foreign.detail.code, foreign.detail.retryable],
    ['ReadFailed', 'account_not_granted', false],
  );
  assert.equal(simulator.received.length, calls);

  const listed = await ask('reports', { request_id: 'list', operation: 'listAccounts' });
  const found = listed.detail.answer as readonly { readonly account_id: string }[];
  assert.deepEqual(each(found, 'account_id'), [accountId]);
});

test('the queue and direct calls are requesters that can be granted accounts, too', async (t) => {
  const { world, grant, ask } = await startWorld(t);
  await grant(requesters.queue, accountId);
  await grant(requesters.function, accountId);
  assert.equal((await ask(undefined, balanceOf(accountId))).type, 'ReadCompleted');
  const { failure } = await lookUpDirectly(world.options, balanceOf(accountId), world.now + 25_000);
  assert.equal(failure, undefined);
});

test('a group that is not readable by event is unknown', async (t) => {
  const { world } = await startWorld(t);
  const { options } = createWorld({ operations: readsOf(operations, ['market-data']) });
  const { failure } = await lookUpDirectly(options, balanceOf(accountId), world.now);
  assert.deepEqual([failure?.code, failure?.retryable], ['invalid_request', false]);
  assert.match(failure?.detail ?? '', /not readable by event/);
});
