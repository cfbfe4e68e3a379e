/** The limits in force over the store in memory; `test/limiter/dynamo/store-dynamo.test.ts` has them over DynamoDB. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createLimitsInForce, createMemoryLimiterStore } from '../../lib/gateway/index.ts';
import { limitsInForceContract } from './limits-in-force.contract.ts';

const memory = createMemoryLimiterStore();
limitsInForceContract('in memory', () => memory);

test('a store that gives no answer delays a request by its time-out once, not each time', async () => {
  let now = Date.UTC(2026, 10, 17);
  let timers = 0;
  const silent = { ...createMemoryLimiterStore(), read: () => new Promise<never>(() => {}) };
  const inForce = createLimitsInForce({
    store: silent,
    key: 'k',
    clock: () => now,
    after: (_, run) => {
      timers++;
      queueMicrotask(run);
      return () => {};
    },
  });
  for (let request = 0; request < 10; request++) assert.equal(await inForce.current(), 0);
  assert.equal(timers, 1);
  now += 5000;
  await inForce.current();
  assert.equal(timers, 2);
});
