/** The limiter's store over DynamoDB keeps the contract, and rejects what is no item of it. */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createDynamoLimiterStore } from '../../functions/aws/dynamo-limiter-store.ts';
import type { LimiterStore } from '../../lib/limiter/index.ts';
import { limitsInForceContract } from '../gateway/limits-in-force.contract.ts';
import { dynamoEngine, needsDynamo } from '../support/dynamo-engine.ts';
import { limiterStoreContract } from './store.contract.ts';

describe('DynamoDB', needsDynamo(), () => {
  let tableName: string;
  const engine = dynamoEngine();
  let store: LimiterStore;
  beforeAll(async () => {
    tableName = await engine.table(['pk']);
    store = createDynamoLimiterStore({ client: engine.client, tableName, timeoutMs: 10_000 });
  });

  limiterStoreContract('DynamoDB', () => store);
  limitsInForceContract('DynamoDB', () => store);

  test('an item has its time to live in whole seconds, never too early', async () => {
    const item = { revision: 'r', counters: {}, text: '', writtenAt: 1 };
    await store.replace('expiring', undefined, item, 1_795_000_000_001);
    const { Item } = await engine.client.send('GetItem', {
      TableName: tableName,
      Key: { pk: { S: 'expiring' } },
    });
    assert.deepEqual(Item?.expires_at, { N: '1795000001' });
  });

  test('an invalid item rejects instead of counting as no item', async () => {
    for (const [key, strange] of Object.entries({
      empty: {},
      'no-map': { revision: { S: 'r' }, text: { S: '' }, counters: { S: '' }, written_at: { N: '1' } },
      half: {
        revision: { S: 'r' },
        text: { S: '' },
        counters: { M: { a: { N: '0.5' } } },
        written_at: { N: '1' },
      },
      below: {
        revision: { S: 'r' },
        text: { S: '' },
        counters: { M: { a: { N: '-1' } } },
        written_at: { N: '1' },
      },
      timeless: { revision: { S: 'r' }, text: { S: '' }, counters: { M: {} } },
    })) {
      await engine.client.send('PutItem', { TableName: tableName, Item: { pk: { S: key }, ...strange } });
      await assert.rejects(store.read(key), TypeError, key);
      await engine.client.send('DeleteItem', { TableName: tableName, Key: { pk: { S: key } } });
      assert.equal(await store.read(key), undefined);
    }
  });
});
