/** Lookups behind interactive callers: the real gateway, one limiter for both, more requests than the limit allows. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { RequestCounters } from '../../infra/simulator/request-counters.ts';
import { operations } from '../../lib/catalogue/index.ts';
import {
  createGateway,
  createLimiter,
  createMemoryLimiterStore,
  type LimiterReport,
} from '../../lib/gateway/index.ts';
import { createLowPriorityLimiter } from '../../lib/limiter/low-priority.ts';
import { existingStocks } from '../snapshots/world/load.ts';
import { ask, secretText, snapshotPath } from '../support/core.ts';
import { sendTo, upstreamOfTest } from '../support/upstream.ts';
import { createRandom } from '../world/random.ts';
import { useFakeTime } from '../world/test-time.ts';
import { createWorld } from './world.ts';

const time = useFakeTime();
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const limit = { requests: 100, perSeconds: 10 };
/** Together 120 in a window of 100; the interactive ones begin when the lookups have had their burst. */
const interactive = 40;
const lookups = 80;
const seconds = 10;

test('however many instances share a short limit, no pause is longer than a lookup can wait', async () => {
  let now = 0;
  const lowPriority = createLowPriorityLimiter({ reserve: 50, pauseMs: 1_000_000, clock: () => now });
  const memory = createLimiter({
    store: createMemoryLimiterStore(),
    limits: { 'market-data': limit },
    bucket: 'b',
    clock: () => now,
  });
  const limiter = lowPriority.wrap(memory);
  const call = { appKey: 'k', limits: ['market-data'], waitMs: 1000, priority: 'events' } as const;
  lowPriority.observe({ kind: 'granted', limit: 'market-data', remaining: 49 } as LimiterReport);
  const refused = await limiter.acquire(call);
  assert.deepEqual([refused.ok, 'retryAfterMs' in refused && refused.retryAfterMs], [false, 30_000]);
  // A permit of another limit says nothing about this one.
  lowPriority.observe({ kind: 'granted', limit: 'instruments', remaining: 50 } as LimiterReport);
  assert.equal((await limiter.acquire(call)).ok, false);
  now += 30_000;
  assert.equal((await limiter.acquire(call)).ok, true);
});

test('a narrower limit of which less than half is left holds back what counts against it, and nothing else', async () => {
  const now = 1_795_000_000_000;
  const lowPriority = createLowPriorityLimiter({ reserve: 50, pauseMs: 1000, clock: () => now });
  const bars = { requests: 60, perSeconds: 60, within: 'market-data' };
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    limits: { 'market-data': { requests: 300, perSeconds: 60 }, bars },
    bucket: 'b',
    clock: () => now,
    report: lowPriority.observe,
  });
  const wrapped = lowPriority.wrap(limiter);
  const ask = (...inner: string[]) =>
    wrapped.acquire({ appKey: 'k', limits: ['market-data', ...inner], waitMs: 0, priority: 'events' });
  let granted = 0;
  while ((await ask('bars')).ok) granted++;
  // 59 in a window: the one that leaves less than half of them is the last.
  assert.equal(granted, 30);
  const refused = await ask('bars');
  assert.deepEqual(refused, { ok: false, reason: 'exhausted', retryAfterMs: 1000, usedUp: 'bars' });
  assert.ok((await ask()).ok);
});

test('while the limit is short lookups wait, and no interactive request is refused', async () => {
  const limits = { 'market-data': limit };
  const lowPriority = createLowPriorityLimiter({ reserve: 50, pauseMs: 200 });
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    limits,
    bucket: 'b',
    random: createRandom(1),
    report: lowPriority.observe,
  });
  const sent: number[] = [];
  const upstream = upstreamOfTest({ counters: new RequestCounters({ limits }) });
  const gateway = createGateway({
    operations,
    upstreamBaseUrl: 'https://upstream.example',
    secrets: { read: async () => secretText() },
    access: 'single-user',
    limiter: lowPriority.wrap(limiter),
    send: sendTo(upstream, ({ status }) => sent.push(status)),
  });
  const world = createWorld({ gateway, clock: Date.now, random: createRandom(2) });
  world.now = Date.now();
  const ids = Array.from({ length: lookups }, (_, index) => `read-${index}`);
  // Of one symbol each and read as such, so that nothing is merged.
  for (const [index, request_id] of ids.entries()) {
    const query = { symbols: existingStocks[index], category: 'US_STOCK' };
    world.send({
      request_id,
      operation: 'getStockSnapshots',
      query,
      deadline_seconds: 600,
      max_age_seconds: index,
    });
  }

  const statuses: number[] = [];
  const users = (async () => {
    await sleep(2000);
    for (let nth = 0; nth < interactive; nth++) {
      void ask(gateway, `${snapshotPath}?symbols=AAPL&category=US_STOCK`).then(({ status }) =>
        statuses.push(status),
      );
      await sleep((seconds * 1000) / interactive);
    }
  })();
  const delivery = (async () => {
    while (world.queue.length > 0) {
      world.now = Date.now();
      if ((await world.deliver(20)) === 0) await sleep(50);
    }
  })();
  let isOver = false;
  void Promise.all([users, delivery]).then(() => {
    isOver = true;
  });
  while (!isOver || statuses.length < interactive) await time.pass(1000);
  const answered = ids.filter((id) => world.repliesTo(id)[0]?.type === 'ReadCompleted');
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [],
  );
  assert.equal(answered.length, lookups);
  assert.ok(world.waits.length > 0);
  assert.ok(world.queue.every(({ receives }) => receives <= 1));
  assert.ok(sent.length >= interactive + lookups && !sent.includes(429), `${sent.length} sent`);
});
