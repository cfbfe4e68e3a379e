/** Lookups behind interactive callers: the real gateway, one limiter for both, more requests than the limit allows. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { createLimiter, createMemoryLimiterStore, type LimiterReport } from '../../lib/gateway/index.ts';
import { createLowPriorityLimiter } from '../../lib/lookups/index.ts';
import { ask, coreFor, snapshotPath } from '../support/core.ts';
import { createWorld } from './world.ts';

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

test('while the limit is short lookups wait, and no interactive request is refused', async (t) => {
  const limits = { 'market-data': limit };
  const lowPriority = createLowPriorityLimiter({ reserve: 50, pauseMs: 200 });
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    limits,
    bucket: 'b',
    report: lowPriority.observe,
  });
  const { gateway, simulator } = await coreFor(t, { limits }, { limiter: lowPriority.wrap(limiter) });
  const world = createWorld({ gateway, clock: Date.now, random: Math.random });
  world.now = Date.now();
  const ids = Array.from({ length: lookups }, (_, index) => `read-${index}`);
  // Of one symbol each and read as such, so that nothing is merged.
  const symbols = simulator.symbols('US_STOCK');
  for (const [index, request_id] of ids.entries()) {
    const query = { symbols: symbols[index % symbols.length], category: 'US_STOCK' };
    world.send({
      request_id,
      operation: 'getStockSnapshots',
      query,
      deadline_seconds: 600,
      max_age_seconds: index,
    });
  }

  const statuses: Promise<number>[] = [];
  const users = (async () => {
    await sleep(2000);
    for (let nth = 0; nth < interactive; nth++) {
      statuses.push(
        ask(gateway, `${snapshotPath}?symbols=AAPL&category=US_STOCK`).then(({ status }) => status),
      );
      await sleep((seconds * 1000) / interactive);
    }
  })();
  while (world.queue.length > 0) {
    world.now = Date.now();
    if ((await world.deliver(20)) === 0) await sleep(50);
  }
  await users;
  const refused = (await Promise.all(statuses)).filter((status) => status !== 200);
  const answered = ids.filter((id) => world.repliesTo(id)[0]?.type === 'ReadCompleted');
  assert.deepEqual(refused, []);
  assert.equal(answered.length, lookups);
  assert.ok(world.waits.length > 0);
  assert.ok(world.queue.every(({ receives }) => receives <= 1));
  assert.equal(simulator.counts.TOO_MANY_REQUESTS, undefined);
});
