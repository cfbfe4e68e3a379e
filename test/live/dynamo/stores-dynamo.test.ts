/** The store of streams on DynamoDB keeps the contract of that in memory. */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createDynamoStreamStore } from '../../../functions/aws/dynamo-stream-store.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { streamStoreContract } from '../stream-store.contract.ts';

describe('the DynamoDB engine', needsDynamo(), () => {
  let tableName: string;
  const engine = dynamoEngine();
  beforeAll(async () => {
    tableName = await engine.table();
  });

  let count = 0;
  const create = (partition = `test-${count++}`) =>
    createDynamoStreamStore({ client: engine.client, tableName, partition, timeoutMs: 10_000 });
  streamStoreContract('on DynamoDB', create);

  test('an item expires when its last stream ends, and without one from now on, not in 1970: that is kept', async () => {
    const store = create('expiry');
    const begunAt = Math.floor(Date.now() / 1000);
    const key = { pk: { S: 'streams#expiry#caller' }, sk: { S: 'streams' } };
    const expiry = async () => {
      const { Item } = await engine.client.send('GetItem', { TableName: tableName, Key: key });
      return Number(Item?.expires_at?.N);
    };
    const until = new Map([['one', 1000 * begunAt + 900_000]]);
    assert.ok(await store.write('caller', { revision: 1, until }));
    assert.equal(await expiry(), begunAt + 900);
    assert.ok(await store.write('caller', { revision: 2, until: new Map() }));
    assert.ok((await expiry()) >= begunAt);
  });
});
