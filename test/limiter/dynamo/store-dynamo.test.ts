/** The limiter's store over DynamoDB keeps the contract, and rejects what is no item of it. */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createDynamoLimiterStore } from '../../../functions/aws/dynamo-limiter-store.ts';
import { operations } from '../../../lib/catalogue/index.ts';
import { limiterLimits } from '../../../lib/gateway/limits/operation-limits.ts';
import { type LimiterStore, windowOf } from '../../../lib/limiter/index.ts';
import { renewedSchedule, scheduleText, shareOf, zeroCounters } from '../../../lib/limiter/schedule.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { limitsInForceContract } from '../limits-in-force.contract.ts';
import { limiterStoreContract } from '../store.contract.ts';

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

  test('the largest item, of all limits and as many shares as are kept, is renewed in conditions that DynamoDB takes, and only as it was seen', async () => {
    const all = Object.entries(limiterLimits({}, 1, { upstreamLimits: 'published', operations }));
    const limits = all.filter(([name, { within = name }]) => within === 'market-data');
    const windows = new Map(limits.map(([name, limit]) => [name, windowOf(limit)]));
    const users = Array.from({ length: 100 }, (_, user) => shareOf('market-data', `user-${user}`));
    const schedule = renewedSchedule(undefined, {}, 1, windows, [...windows.keys(), ...users]);
    const counters = zeroCounters(schedule, windows);
    const item = { revision: 'r', counters, text: scheduleText(schedule), writtenAt: 1 };
    assert.ok((await store.replace('largest', undefined, item, 2)).written);
    assert.ok((await store.replace('largest', item, { ...item, revision: 's' }, 2)).written);
    const returns = Object.keys(counters).filter((name) => name.endsWith('/returned'));
    const additions = returns.map((counter) => ({ counter, by: 1, min: 0, max: Number.MAX_SAFE_INTEGER }));
    assert.ok((await store.add('largest', 's', additions, 2)).written);
    assert.ok(Object.keys(counters).length > 200);
    const now = await store.read('largest');
    assert.equal((await store.replace('largest', { ...now!, counters }, item, 2)).written, false);
    assert.ok((await store.replace('largest', now, item, 2)).written);
  });

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
