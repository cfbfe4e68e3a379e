/**
 * The limiter's store in memory keeps the contract, as the one over DynamoDB does (`store-dynamo.test.ts`),
 * which rejects soon where there is no engine.
 */

import assert from 'node:assert/strict';
import { onTestFinished, test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoLimiterStore } from '../../functions/aws/dynamo-limiter-store.ts';
import { createMemoryLimiterStore, StoreThrottled } from '../../lib/limiter/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';
import { limiterStoreContract } from './store.contract.ts';
import { startThrottlingProxy } from './throttling-proxy.ts';

Object.assign(process.env, emulatorEnvironment);

const memory = createMemoryLimiterStore();
limiterStoreContract('in memory', () => memory);

test('a table that throttles rejects as throttled, by every operation', async () => {
  const proxy = await startThrottlingProxy('http://127.0.0.1:1', 1);
  onTestFinished(() => proxy.close());
  const store = createDynamoLimiterStore({
    client: createDynamoClient(proxy.endpoint),
    tableName: 'limiter',
    timeoutMs: 5000,
  });
  const item = { revision: '', counters: {}, text: '', writtenAt: 1 };
  await assert.rejects(store.read('key'), StoreThrottled);
  await assert.rejects(store.add('key', 'r', [], 1), StoreThrottled);
  await assert.rejects(store.replace('key', undefined, item, 1), StoreThrottled);
  // Each was asked once: the limiter has a pause of its own.
  assert.deepEqual(proxy.counts, { passed: 0, throttled: 3 });
});

test('where there is no table or no engine, each operation rejects soon', async () => {
  const endpoint = `http://127.0.0.1:${await closedPort()}`;
  const store = createDynamoLimiterStore({
    client: createDynamoClient(endpoint),
    tableName: 'limiter',
    timeoutMs: 100,
  });
  await assert.rejects(store.read('key'), (error) => !(error instanceof StoreThrottled));
  await assert.rejects(store.add('key', 'r', [], 1));
  await assert.rejects(
    store.replace('key', undefined, { revision: '', counters: {}, text: '', writtenAt: 1 }, 1),
  );
});
