/** Reads of account data through the gateway, in front of the simulated upstream: who shares which answer, and how old it is. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { ApiFault, SimulatorOptions } from '../../infra/simulator/index.ts';
import { responseKey } from '../../lib/cache/responses/index.ts';
import {
  cancelOrder,
  createWatchlist,
  getAccountBalance,
  getOrder,
  listAccountPositions,
  listOpenOrders,
  listWatchlists,
} from '../../lib/catalogue/index.ts';
import {
  createMemoryCacheStores,
  type Gateway,
  type GatewayOptions,
  type Limiter,
  type ResponseStore,
} from '../../lib/gateway/index.ts';
import { sha256Hex } from '../../lib/kernel/key-text.ts';
import {
  accountId,
  accountsPath,
  ask,
  coreFor,
  credentials,
  gatewayOf,
  orderBody,
  orderPath,
  problemOf,
  type Reply,
  requestOf,
  secretText,
} from '../support/core.ts';

/** Instances on one response store, in front of a simulator; time goes on only when it is told to. */
async function fleetFor(t: TestContext, simulated: Partial<SimulatorOptions> = {}) {
  // At the beginning of a minute: quotas are counted by the minute.
  let now = Math.floor(Date.now() / 60_000) * 60_000;
  const clock = () => now;
  const written: string[] = [];
  const memory = createMemoryCacheStores();
  const state = { away: false, isBehind: false };
  const replaced = new Map<string, Awaited<ReturnType<ResponseStore['read']>>>();
  const orAway = <T>(work: () => Promise<T>) => (state.away ? Promise.reject(new Error('away')) : work());
  const responses: ResponseStore = {
    ...memory.responses,
    // One that is behind knows what a key had before, unless its caller wants the newest.
    read: (key, consistency) =>
      orAway(async () =>
        state.isBehind && !consistency && replaced.has(key)
          ? replaced.get(key)
          : memory.responses.read(key, consistency),
      ),
    async write(key, answer, expiresAt) {
      const before = await memory.responses.read(key);
      if (before) replaced.set(key, before);
      const content =
        answer.kind === 'answer' ? new TextDecoder('latin1').decode(answer.body) : JSON.stringify(answer);
      written.push(`${key} ${content}`);
      return orAway(() => memory.responses.write(key, answer, expiresAt));
    },
  };
  const cache = { ...memory, responses };
  const core = await coreFor(t, { clock, ...simulated }, { clock, cache });
  const another = (secret = credentials, options: Partial<GatewayOptions> = {}) =>
    gatewayOf({
      upstreamBaseUrl: core.simulator.url,
      secrets: { read: async () => secretText(secret) },
      clock,
      cache,
      ...options,
    });
  const asked = (path: string) => core.simulator.received.filter(({ target }) => target.startsWith(path));
  const skip = (ms: number) => {
    now += ms;
  };
  return { ...core, another, asked, skip, written, state };
}

const limited = { upstreamLimits: { 'accounts-list': { requests: 8, perSeconds: 10 } } };

describe('the accounts list', { concurrent: true }, () => {
  test('of 100 callers at once over five instances is one upstream call', async (t) => {
    const { gateway, another, asked, simulator } = await fleetFor(t, limited);
    const instances = [gateway, another(), another(), another(), another()];
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, caller) =>
        instances[caller % 5]!.handle({
          ...requestOf(accountsPath),
          caller: { unit: `unit-${caller}`, member: `member-${caller}` },
        }),
      ),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(asked(accountsPath).length, 1);
    const text = new TextDecoder().decode(replies[99]!.body);
    assert.deepEqual(JSON.parse(text), simulator.accounts);
  });

  test('says how old it is, and serves for a minute', async (t) => {
    const { gateway, another, asked, skip } = await fleetFor(t);
    await ask(gateway, accountsPath);
    skip(59_000);
    const { headers } = await ask(another(), accountsPath);
    assert.equal(asked(accountsPath).length, 1);
    assert.deepEqual(
      [headers.age, headers['x-poll-after'], headers['cache-control'], headers['cache-status']],
      ['59', '1', 'private, no-cache', 'countersign; hit; ttl=1'],
    );
    assert.equal(
      (await ask(gateway, accountsPath, { headers: { 'if-none-match': headers.etag! } })).status,
      304,
    );
    skip(2000);
    assert.equal((await ask(another(), accountsPath)).headers.age, '0');
    assert.equal(asked(accountsPath).length, 2);
  });

  test('that is too large for the store keeps no other instance waiting', async (t) => {
    const { gateway, another, asked, skip } = await fleetFor(t, {
      fault: () => ({ kind: 'oversized', bytes: 500_000 }),
    });
    assert.equal((await ask(gateway, accountsPath)).status, 200);
    const second = ask(another(), accountsPath);
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    // An instance that waits for the lease of another does so no longer.
    skip(5000);
    assert.equal((await second).status, 200);
    assert.equal(asked(accountsPath).length, 2);
  });

  test('is asked for anew by no-cache, twenty times a minute for one caller', async (t) => {
    const { gateway, asked, skip } = await fleetFor(t);
    for (let times = 0; times < 25; times++) {
      await ask(gateway, accountsPath, { headers: { 'cache-control': 'no-cache' } });
      skip(1100);
    }
    assert.equal(asked(accountsPath).length, 21);
  });

  test('that the upstream refuses for its limit is the one from before', async (t) => {
    const limit = { upstreamLimits: { 'accounts-list': { requests: 1, perSeconds: 600 } } };
    const { gateway, asked, skip } = await fleetFor(t, limit);
    const first = await ask(gateway, accountsPath);
    skip(61_000);
    const second = await ask(gateway, accountsPath);
    assert.equal(asked(accountsPath).length, 2);
    assert.deepEqual([second.status, second.text, second.headers.age], [200, first.text, '61']);
  });

  test('is sealed where other instances find it, and another secret of the key does not open it', async (t) => {
    const { gateway, another, asked, written, simulator } = await fleetFor(t);
    const { text } = await ask(gateway, accountsPath);
    assert.equal(written.length, 1);
    const account = Object.entries(simulator.accounts[0]!).flat();
    assert.ok(account.every((part) => text.includes(part)));
    for (const part of [...account, credentials.appKey, credentials.appSecret])
      assert.ok(!written[0]!.includes(part), part);
    const renewed = { ...credentials, appSecret: 'another-secret-of-the-key' };
    simulator.setCredentials([renewed]);
    assert.equal((await ask(another(renewed), accountsPath)).text, text);
    assert.equal(asked(accountsPath).length, 2);
  });
});

const openOrdersOf = (account: string) => `${listOpenOrders.path}?account_id=${account}`;
const positionsOf = (account: string) => `${listAccountPositions.path}?account_id=${account}`;
const detailOf = (order: string) => `${getOrder.path}?account_id=${accountId}&client_order_id=${order}`;
/** It stays open: nobody sells at that price. */
const openOrder = (id: string) =>
  orderBody({ client_order_id: id, order_type: 'LIMIT', limit_price: '1.00' });
const cancelOf = (id: string) => JSON.stringify({ account_id: accountId, client_order_id: id });

async function good(reply: Promise<Reply>): Promise<Reply> {
  const { status, text } = await reply;
  assert.equal(status, 200, text);
  return reply;
}

describe('what an account holds and has ordered', { concurrent: true }, () => {
  test('is one call for equal requests, and never mixed with another account’s', async (t) => {
    const { gateway, another, asked, simulator } = await fleetFor(t);
    const ids = simulator.accounts.map(({ account_id }) => account_id);
    const { url } = simulator;
    for (const path of [listAccountPositions.path, getAccountBalance.path]) {
      const alone = await Promise.all(
        ids.map(async (id) => {
          const plain = gatewayOf({
            upstreamBaseUrl: url,
          });
          return (await good(ask(plain, `${path}?account_id=${id}`))).text.replace(/"[\d.-]+"/g, '');
        }),
      );
      assert.notEqual(alone[0], alone[1]);
      const before = asked(path).length;
      const instances = [gateway, another(), another()];
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, at) =>
          good(ask(instances[at % 3]!, `${path}?account_id=${ids[at % 2]}`)),
        ),
      );
      for (const [at, { text }] of replies.entries())
        assert.equal(text.replace(/"[\d.-]+"/g, ''), alone[at % 2]);
      assert.equal(asked(path).length, before + 2);
    }
  });

  test('is shared under names that confirm no guessed account', async (t) => {
    const { gateway, another, asked, written } = await fleetFor(t);
    const { text } = await good(ask(gateway, openOrdersOf(accountId)));
    assert.equal((await good(ask(another(), openOrdersOf(accountId)))).text, text);
    assert.equal(asked(listOpenOrders.path).length, 1);
    await good(ask(gateway, orderPath, { body: openOrder('order-under-a-name') }));
    const names = written.map((item) => item.split(' ')[0]!);
    assert.deepEqual(
      names.map((name) => name.split('#')[0]),
      ['account', 'version'],
    );
    const request = await responseKey(listOpenOrders.id, [['account_id', accountId]], '');
    const account = await sha256Hex(JSON.stringify(['account', accountId]));
    const guesses = [accountId, account.slice(0, 32), request.slice(-32)];
    assert.deepEqual(
      names.filter((name) => guesses.some((guess) => name.includes(guess))),
      [],
    );
  });

  test('is read anew after a change by an instance that has a new secret of the key already', async (t) => {
    const { another, asked, simulator } = await fleetFor(t);
    let current = credentials;
    const reading = another(credentials, { secrets: { read: async () => secretText(current) } });
    await good(ask(reading, openOrdersOf(accountId)));
    current = { ...credentials, appSecret: 'another-secret-of-the-key' };
    simulator.setCredentials([current]);
    await good(ask(another(current), orderPath, { body: openOrder('order-of-the-new-secret') }));
    assert.match((await good(ask(reading, openOrdersOf(accountId)))).text, /order-of-the-new-secret/);
    assert.equal(asked(listOpenOrders.path).length, 3);
  });

  test('is no older than two seconds, or fifteen while another request renews it', async (t) => {
    const { gateway, asked, skip } = await fleetFor(t);
    const path = positionsOf(accountId);
    await good(ask(gateway, path));
    skip(2000);
    const { headers } = await good(ask(gateway, path));
    assert.deepEqual([headers.age, headers['cache-control']], ['2', 'private, no-cache']);
    skip(1000);
    const both = await Promise.all([good(ask(gateway, path)), good(ask(gateway, path))]);
    assert.deepEqual(both.map((one) => one.headers.age).sort(), ['0', '3']);
    skip(15_001);
    const none = await Promise.all([good(ask(gateway, path)), good(ask(gateway, path))]);
    assert.deepEqual(
      none.map((one) => one.headers.age),
      ['0', '0'],
    );
    assert.equal(asked(listAccountPositions.path).length, 3);
  });

  test('is as old as its request to the upstream, without the wait for a permit', async (t) => {
    const limiter: Limiter = {
      async acquire() {
        skip(1900);
        return { ok: true, permit: { expiresAt: Number.POSITIVE_INFINITY, consume: () => true } };
      },
      block: async () => {},
      used: async () => undefined,
    };
    const operationLimits = { positions: { requests: 2, perSeconds: 2, for: ['listAccountPositions'] } };
    const { another, skip, asked } = await fleetFor(t);
    const gateway = another(credentials, { limiter, operationLimits });
    const path = positionsOf(accountId);
    assert.equal((await good(ask(gateway, path))).headers.age, '0');
    skip(1500);
    assert.equal((await good(ask(gateway, path))).headers.age, '2');
    assert.equal(asked(listAccountPositions.path).length, 1);
  });

  test('is read anew after a placement and after a cancel, in every instance, though reads of the table are behind', async (t) => {
    const { gateway, another, asked, state } = await fleetFor(t);
    state.isBehind = true;
    const [placing, reading] = [another(), another()];
    const has = async (id: string) => (await good(ask(reading, openOrdersOf(accountId)))).text.includes(id);
    assert.equal(await has('order-of-this-test'), false);
    await good(ask(placing, orderPath, { body: openOrder('order-of-this-test') }));
    assert.equal(await has('order-of-this-test'), true);
    assert.equal(await has('order-of-this-test'), true);
    assert.equal(asked(listOpenOrders.path).length, 2);
    await good(ask(gateway, cancelOrder.path, { body: cancelOf('order-of-this-test') }));
    assert.equal(await has('order-of-this-test'), false);
    assert.equal(asked(listOpenOrders.path).length, 3);
  });

  test('is read anew after an order whose outcome is unknown, and kept after one that was refused', async (t) => {
    let fault: ApiFault | undefined;
    const { gateway, another, asked } = await fleetFor(t, {
      fault: ({ method }) => (method === 'POST' ? fault : undefined),
    });
    const reading = another();
    const reads = async () => {
      await good(ask(reading, openOrdersOf(accountId)));
      await good(ask(gateway, openOrdersOf(accountId)));
      return asked(listOpenOrders.path).length;
    };
    assert.equal(await reads(), 1);
    fault = {
      kind: 'status',
      status: 417,
      body: { error_code: 'OPENAPI_NO_TRADING_TIME', message: 'closed' },
    };
    assert.equal((await ask(gateway, orderPath, { body: openOrder('refused-order') })).status, 422);
    assert.equal(await reads(), 1);
    fault = { kind: 'drop-after' };
    const unknown = await ask(gateway, orderPath, { body: openOrder('unknown-order') });
    assert.equal(problemOf(unknown).code, 'outcome_unknown');
    assert.equal(await reads(), 2);
  });

  test('of another account stays as it is', async (t) => {
    const { gateway, asked, simulator } = await fleetFor(t);
    const other = simulator.accounts[1]!.account_id;
    await good(ask(gateway, openOrdersOf(other)));
    await good(ask(gateway, orderPath, { body: openOrder('order-elsewhere') }));
    await good(ask(gateway, openOrdersOf(other)));
    assert.equal(asked(listOpenOrders.path).length, 1);
  });

  test('while the table fails is read anew in the instance that changed it, and elsewhere when it is renewed', async (t) => {
    const { gateway, another, skip, state } = await fleetFor(t);
    const elsewhere = another();
    const has = async (one: Gateway) =>
      (await good(ask(one, openOrdersOf(accountId)))).text.includes('order-without-table');
    assert.deepEqual([await has(gateway), await has(elsewhere)], [false, false]);
    state.away = true;
    await good(ask(gateway, orderPath, { body: openOrder('order-without-table') }));
    assert.deepEqual([await has(gateway), await has(elsewhere)], [true, false]);
    skip(2001);
    assert.deepEqual([await has(gateway), await has(elsewhere)], [true, true]);
    state.away = false;
    skip(1001);
    assert.deepEqual([await has(gateway), await has(elsewhere)], [true, true]);
  });

  test('of a watchlist is read anew after a change of one', async (t) => {
    const { gateway, another } = await fleetFor(t);
    const reading = another();
    const has = async () => (await good(ask(reading, listWatchlists.path))).text.includes('Of this test');
    assert.equal(await has(), false);
    await good(
      ask(gateway, createWatchlist.path, { body: JSON.stringify({ name: 'Of this test', sort: 1 }) }),
    );
    assert.equal(await has(), true);
  });
});

describe('one order', { concurrent: true }, () => {
  test('is one call for equal requests at a time, and nothing of it is kept', async (t) => {
    const { gateway, asked, written } = await fleetFor(t);
    for (let round = 1; round <= 3; round++) {
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => ask(gateway, detailOf('no-such-order'))),
      );
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([422]));
      assert.equal(asked(getOrder.path).length, round);
    }
    assert.deepEqual(written, []);
  });

  test('that is cancelled meanwhile is asked for anew', async (t) => {
    const { gateway, asked } = await fleetFor(t, {
      fault: ({ path }) => (path === getOrder.path ? { kind: 'delay', ms: 400 } : undefined),
    });
    await good(ask(gateway, orderPath, { body: openOrder('cancelled-order') }));
    const early = good(ask(gateway, detailOf('cancelled-order')));
    while (asked(getOrder.path).length === 0) await new Promise(setImmediate);
    await good(ask(gateway, cancelOrder.path, { body: cancelOf('cancelled-order') }));
    const late = good(ask(gateway, detailOf('cancelled-order')));
    assert.doesNotMatch((await early).text, /CANCELLED/);
    assert.match((await late).text, /CANCELLED/);
    assert.equal(asked(getOrder.path).length, 2);
  });
});
