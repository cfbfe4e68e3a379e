import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { NonceMemory } from '../../infra/simulator/nonces.ts';
import { SlidingLog } from '../../infra/simulator/request-counters.ts';
import { codeOf, send, snapshotTarget, testTime, withSimulator } from './support.ts';

test('300 market-data requests a minute and not one more, over HTTP', async () => {
  let now = testTime;
  await withSimulator({ clock: () => now }, async (simulator) => {
    const ask = () => send(simulator, { target: snapshotTarget, now });
    const statuses = async (count: number) =>
      new Set((await Promise.all(Array.from({ length: count }, ask))).map((reply) => reply.status));
    assert.deepEqual(await statuses(100), new Set([200]));
    now += 30_000;
    assert.deepEqual(await statuses(200), new Set([200]));
    const refused = await ask();
    assert.deepEqual([refused.status, codeOf(refused)], [429, 'TOO_MANY_REQUESTS']);
    assert.deepEqual(await statuses(20), new Set([429]));

    // Others are not limited, and a request that is not authentic neither counts nor is told of the limit.
    assert.equal((await send(simulator, { target: '/trading/accounts/list', now })).status, 200);
    const forged = await send(simulator, { target: snapshotTarget, now, appSecret: 'wrong' });
    assert.equal(codeOf(forged), 'INCORRECT_SIGN');

    now = testTime + 59_999;
    assert.equal((await ask()).status, 429);
    now = testTime + 60_000;
    assert.deepEqual(await statuses(100), new Set([200]));
    assert.equal((await ask()).status, 429);
    assert.deepEqual(simulator.counts, { ok: 401, TOO_MANY_REQUESTS: 23, INCORRECT_SIGN: 1 });
  });
});

test('the limit can be set to other figures', async () => {
  const limits = { 'market-data': { requests: 1, perSeconds: 1 } };
  await withSimulator({ limits }, async (simulator) => {
    assert.equal((await send(simulator, { target: snapshotTarget })).status, 200);
    assert.equal((await send(simulator, { target: snapshotTarget })).status, 429);
  });
});

test('no window ever holds more than the limit, and none is refused without need', () => {
  const gaps = fc.array(fc.nat(400), { maxLength: 200 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 8 }), (steps, requests) => {
      const log = new SlidingLog({ requests, perSeconds: 1 });
      const admitted: number[] = [];
      let now = 0;
      for (const step of steps) {
        now += step;
        const inWindow = admitted.filter((time) => time > now - 1000).length;
        assert.equal(log.hasRoom(now), inWindow < requests);
        if (inWindow === requests) continue;
        log.count(now);
        admitted.push(now);
      }
    }),
  );
});

test('nonces are held while their request would be in time, and then forgotten', () => {
  const nonces = new NonceMemory();
  assert.ok(nonces.admit('k', 'n', 300, 0));
  assert.ok(!nonces.admit('k', 'n', 600, 300));
  assert.ok(nonces.admit('k', 'n', 601, 301));
  assert.ok(!nonces.admit('k', 'n', 900, 601));
  for (let now = 1000; now < 11_000; now++) nonces.admit('k', `n${now}`, now + 300, now);
  // Of a clock set back the memory shows what it holds: the last ones, and none of those before.
  for (const now of [1000, 5000, 10_698]) assert.ok(nonces.admit('k', `n${now}`, now + 300, now));
  for (const now of [10_699, 10_999]) assert.ok(!nonces.admit('k', `n${now}`, now + 300, now));
});

test('each endpoint has its own counter beside the common one, and a refused request counts against none', async () => {
  let now = testTime;
  const upstreamLimits = {
    'market-data': { requests: 2, perSeconds: 10 },
    'order-query': { requests: 1, perSeconds: 2 },
  };
  const limits = { 'market-data': { requests: 3, perSeconds: 10 } };
  await withSimulator({ clock: () => now, limits, upstreamLimits }, async (simulator) => {
    const statuses = async (...targets: readonly string[]) => {
      const all: number[] = [];
      for (const target of targets) all.push((await send(simulator, { target, now })).status);
      return all;
    };
    const alias = snapshotTarget.replace(/^[^?]*/, '/market-data/snapshot');
    const bars = '/market-data/screeners/market-sectors/list?';
    // The alias is the same endpoint. The refused third one leaves room for one of another endpoint.
    assert.deepEqual(await statuses(snapshotTarget, alias, snapshotTarget), [200, 200, 429]);
    const [other] = await statuses(bars);
    assert.notEqual(other, 429);
    assert.deepEqual(await statuses(bars), [429]);
    now += 10_000;
    assert.deepEqual(await statuses(snapshotTarget), [200]);
    const accountId = simulator.accounts[0]!.account_id;
    const current = `/trading/orders/open-orders/list?account_id=${accountId}`;
    const older = `/openapi/trade/order/open?account_id=${accountId}&page_size=10`;
    assert.equal((await statuses(current))[0], 200);
    assert.deepEqual(await statuses(older), [429]);
    assert.notEqual(
      (await statuses(`/trading/orders/get?account_id=${accountId}&client_order_id=x`))[0],
      429,
    );
  });
});

test('without a choice no endpoint has a counter of its own', async () => {
  await withSimulator({}, async (simulator) => {
    const { account_id: id } = simulator.accounts[0]!;
    for (let count = 0; count < 12; count++) {
      const target = `/trading/orders/open-orders/list?account_id=${id}`;
      assert.equal((await send(simulator, { target })).status, 200);
    }
  });
});
