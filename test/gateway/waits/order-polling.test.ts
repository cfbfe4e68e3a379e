/**
 * A hundred users who poll their orders every five seconds while the upstream takes two order queries in two seconds:
 * what they see is how old, how many are refused, and how long a cancel takes. Whole gateways before the simulated
 * upstream, on a virtual clock.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { SlidingLog } from '../../../infra/simulator/request-counters.ts';
import { createWorld } from '../../../infra/simulator/world.ts';
import { cancelOrder, getOrder, listOpenOrders } from '../../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
  type OperationLimits,
} from '../../../lib/gateway/index.ts';
import { gatewayOf, orderBody, orderPath, requestOf } from '../../support/core.ts';
import { sendTo, upstreamOfTest } from '../../support/upstream.ts';
import { useFakeTime } from '../../world/test-time.ts';

const time = useFakeTime();

interface Scenario {
  readonly targetOf: (user: number) => string;
  /** Whether one user places an order each minute, and another cancels it ten seconds later. */
  readonly hasChanges?: true;
}

/** The vendor's table. */
const queries = { requests: 2, perSeconds: 2 };
const ofQueries = ['getOrder', 'listOpenOrders', 'listOrderHistory'];

/** Several instances on the same stores, before an upstream that counts order queries by itself. */
function createFleet(size: number) {
  const operationLimits: OperationLimits = { 'order-queries': { ...queries, for: ofQueries } };
  const world = createWorld(1);
  const upstream = upstreamOfTest({ world });
  const log = new SlidingLog(queries);
  const counts = { queries: 0, over: 0 };
  const send = sendTo(upstream, (_, { method }) => {
    if (method !== 'GET') return;
    const now = Date.now();
    counts.queries++;
    if (log.hasRoom(now)) log.count(now);
    else counts.over++;
  });
  const store = createMemoryLimiterStore();
  const cache = createMemoryCacheStores();
  const instances = Array.from({ length: size }, () =>
    gatewayOf({
      limiter: createLimiter({ store, limits: limiterLimits(operationLimits), bucket: 'test' }),
      operationLimits,
      cache,
      send,
    }),
  );
  return { instances, counts, world };
}

interface Poll {
  readonly status: number;
  readonly age: number;
  readonly waitedMs: number;
}

const part = (values: readonly number[], of: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * of))] ?? 0;

const figuresOf = (polls: readonly Poll[]) => {
  // An order that is not known is an answer too.
  const good = polls.filter(({ status }) => status === 200 || status === 422);
  const ages = good.map(({ age }) => age);
  const waits = polls.map(({ waitedMs }) => waitedMs);
  return {
    polls: polls.length,
    refusedPercent: Math.round((1000 * (polls.length - good.length)) / polls.length) / 10,
    age: [part(ages, 0.5), part(ages, 0.95), part(ages, 1)],
    waitedMs: [part(waits, 0.5), part(waits, 0.95), part(waits, 1)],
  };
};

/** Each user has a poll every five seconds, at a moment of its own. */
async function poll({ targetOf, hasChanges }: Scenario) {
  const minutes = 3;
  const { instances, counts, world } = createFleet(5);
  const polls: Poll[] = [];
  const cancels: Poll[] = [];
  const ask = async (user: number, into: Poll[], ...given: Parameters<typeof requestOf>) => {
    const caller = { unit: `unit-${user % 10}`, member: `user-${user}` };
    const from = Date.now();
    const instance = instances[Math.floor(from / 50 + user) % instances.length]!;
    const { status, headers } = await instance.handle({ ...requestOf(...given), caller });
    into.push({ status, age: Number(headers.age), waitedMs: Date.now() - from });
  };
  const users = 100;
  let placed = 0;
  await time.pass(minutes * 60_000, (at) => {
    const slot = (at / 50) % users;
    void ask(slot, polls, targetOf(slot));
    if (!hasChanges) return;
    if (at % 60_000 === 20_000) {
      const body = orderBody({
        client_order_id: `polling-order-${++placed}`,
        order_type: 'LIMIT',
        limit_price: '1.00',
      });
      void ask(0, [], orderPath, { body });
    }
    if (at % 60_000 === 30_000) {
      const { account_id } = world.accounts[0]!;
      const body = JSON.stringify({ account_id, client_order_id: `polling-order-${placed}` });
      void ask(1, cancels, cancelOrder.path, { body });
    }
  });
  await time.pass(5000);
  const figures = {
    ...figuresOf(polls),
    queries: counts.queries,
    cancelMs: cancels.map(({ waitedMs }) => waitedMs),
  };
  console.log(`100 users, 3 minutes: ${JSON.stringify(figures)}`);
  assert.equal(counts.over, 0, 'the upstream gets no more than it takes');
  return { ...figures, cancels };
}

const openOrders = (account: string) => `${listOpenOrders.path}?account_id=${account}`;
const accounts = createWorld(1).accounts.map(({ account_id }) => account_id);

describe('100 users, of whom each polls every five seconds', () => {
  test('the open orders of one account: nobody is refused', async () => {
    const { refusedPercent, age } = await poll({ targetOf: () => openOrders(accounts[0]!) });
    assert.equal(refusedPercent, 0);
    assert.ok(age[0]! <= 3 && age[2]! <= 8, age.join());
  });

  test('the open orders of two accounts, in which an order is placed and cancelled each minute', async () => {
    const { refusedPercent, age, cancels } = await poll({
      hasChanges: true,
      targetOf: (user) => openOrders(accounts[user % 2]!),
    });
    assert.ok(refusedPercent < 5, `${refusedPercent} % refused`);
    // The oldest of all is as old as one look had to wait for its permit, which differs from run to run.
    assert.ok(age[0]! <= 5 && age[1]! <= 12, age.join());
    assert.equal(cancels.length, 3);
    for (const { status, waitedMs } of cancels)
      assert.ok(status === 200 && waitedMs <= 300, `${status} ${waitedMs}`);
  });

  test('an order of one’s own: most are refused, because nobody else’s answer is theirs; a cancel is not', async () => {
    const {
      polls,
      queries: sent,
      cancels,
    } = await poll({
      hasChanges: true,
      targetOf: (user) => `${getOrder.path}?account_id=${accounts[0]}&client_order_id=own-order-of-${user}`,
    });
    assert.ok(sent >= 30 && sent <= 200 && polls === 3600, `${sent} of ${polls}`);
    for (const { status, waitedMs } of cancels)
      assert.ok(status === 200 && waitedMs <= 300, `${status} ${waitedMs}`);
  });
});
