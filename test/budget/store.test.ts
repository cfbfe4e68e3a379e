/** Both budget stores keep the contract; besides, what the one over DynamoDB does with what is no item. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoBudgetStore } from '../../functions/aws/dynamo-budget-store.ts';
import { type BudgetStore, createMemoryBudgetStore, StoreThrottled } from '../../lib/gateway/budget/index.ts';
import { type Ministack, startMinistack } from '../emulator/ministack.ts';
import { missingEmulator } from '../emulator/missing.ts';
import { closedPort } from '../support/closed-port.ts';
import { createBudgetTable, emulatorEnvironment } from './dynamo.ts';
import { budgetStoreContract } from './store.contract.ts';
import { startThrottlingProxy } from './throttling-proxy.ts';

Object.assign(process.env, emulatorEnvironment);

const memory = createMemoryBudgetStore();
budgetStoreContract('in memory', () => memory);

describe('DynamoDB', { skip: missingEmulator() }, () => {
  const tableName = 'budget';
  let emulator: Ministack;
  let store: BudgetStore;
  let client: DynamoDBClient;
  before(async () => {
    emulator = await startMinistack();
    const { endpoint } = emulator;
    await createBudgetTable(endpoint, tableName);
    store = createDynamoBudgetStore({ tableName, endpoint, timeoutMs: 10_000 });
    client = new DynamoDBClient({ endpoint });
  });
  after(() => emulator?.stop());

  budgetStoreContract('DynamoDB', () => store);

  test('an item has its time to live in whole seconds, never too early', async () => {
    const item = { revision: 'r', counters: {}, text: '', writtenAt: 1 };
    await store.replace('expiring', undefined, item, 1_795_000_000_001);
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: { pk: { S: 'expiring' } } }),
    );
    assert.deepEqual(Item?.expires_at, { N: '1795000001' });
  });

  test('what is no item of the budget rejects instead of counting as none', async () => {
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
      await client.send(new PutItemCommand({ TableName: tableName, Item: { pk: { S: key }, ...strange } }));
      await assert.rejects(store.read(key), TypeError, key);
      await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk: { S: key } } }));
      assert.equal(await store.read(key), undefined);
    }
  });
});

test('a table that throttles rejects as throttled, by every operation', async (t) => {
  const proxy = await startThrottlingProxy('http://127.0.0.1:1', 1);
  t.after(() => proxy.close());
  const store = createDynamoBudgetStore({ tableName: 'budget', endpoint: proxy.endpoint, timeoutMs: 5000 });
  const item = { revision: '', counters: {}, text: '', writtenAt: 1 };
  await assert.rejects(store.read('key'), StoreThrottled);
  await assert.rejects(store.add('key', 'r', [], 1), StoreThrottled);
  await assert.rejects(store.replace('key', undefined, item, 1), StoreThrottled);
  // Each was asked once: the limiter has a pause of its own.
  assert.deepEqual(proxy.counts, { passed: 0, throttled: 3 });
});

test('a table that is not there, or an engine, rejects, and soon', async () => {
  const endpoint = `http://127.0.0.1:${await closedPort()}`;
  const store = createDynamoBudgetStore({ tableName: 'budget', endpoint, timeoutMs: 100 });
  await assert.rejects(store.read('key'), (error) => !(error instanceof StoreThrottled));
  await assert.rejects(store.add('key', 'r', [], 1));
  await assert.rejects(
    store.replace('key', undefined, { revision: '', counters: {}, text: '', writtenAt: 1 }, 1),
  );
});
