/** The store of lookups over DynamoDB keeps the contract; besides, what it does with its items. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, test } from 'vitest';
import { createDynamoLookupStore } from '../../../functions/aws/dynamo-lookup-store.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import type { LookupStore } from '../../../lib/lookups/index.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { lookupStoreContract } from '../store.contract.ts';

const claim = {
  id: 'id',
  hash: 'h',
  owner: 'o',
  now: 1,
  leaseUntil: 2,
  expiresAt: 1_795_000_000_001,
};

describe('DynamoDB', needsDynamo(), () => {
  let tableName: string;
  const engine = dynamoEngine();
  let store: LookupStore;
  let unsealed: LookupStore;
  const { sealer } = createIdentity(async () => 'k'.repeat(32));
  beforeAll(async () => {
    tableName = await engine.table(['pk']);
    const options = { client: engine.client, tableName, timeoutMs: 10_000 };
    store = createDynamoLookupStore({ ...options, sealer });
    unsealed = createDynamoLookupStore(options);
  });

  lookupStoreContract('DynamoDB', () => store);

  test('an item has its time to live in whole seconds, never too early', async () => {
    await store.claim(claim);
    const { Item } = await engine.client.send('GetItem', { TableName: tableName, Key: { pk: { S: 'id' } } });
    assert.deepEqual(Item?.expires_at, { N: '1795000001' });
  });

  test('account data is sealed in the item, for its request alone, and never stored without a sealer', async () => {
    const canary = 'ACCOUNT-7713';
    const reply = { detailType: 'ReadCompleted', details: [canary], isAccountData: true as const };
    for (const id of ['mine', 'yours']) {
      await store.claim({ ...claim, id });
      assert.equal(await store.saveReply(id, 'o', reply), 'saved');
    }
    const items = await engine.items(tableName);
    const replies = items.flatMap(({ reply: { B } = {} }) => (B ? [Buffer.from(B)] : []));
    assert.ok(replies.length >= 2);
    assert.ok(!replies.some((bytes) => bytes.includes(canary)));

    const [mine, yours] = ['mine', 'yours'].map((id) => items.find(({ pk }) => pk?.S === id));
    await engine.client.send('PutItem', { TableName: tableName, Item: { ...yours, reply: mine!.reply! } });
    await assert.rejects(store.claim({ ...claim, id: 'yours' }), /does not open/);
    await assert.rejects(unsealed.claim({ ...claim, id: 'mine' }), /no sealer/);
    await unsealed.claim({ ...claim, id: 'new' });
    await assert.rejects(unsealed.saveReply('new', 'o', reply), /no sealer/);
    assert.equal(await unsealed.saveReply('new', 'o', { detailType: 'd', details: [] }), 'saved');
  });

  test('a reply is packed; one that is larger than an item all the same is not kept', async () => {
    await store.claim({ ...claim, id: 'large' });
    const details = ['{"price":"1.10"}'.repeat(100_000)];
    const noise = [randomBytes(500_000).toString('base64')];
    assert.equal(await store.saveReply('large', 'o', { detailType: 'd', details: noise }), 'too_large');
    assert.equal(await store.saveReply('large', 'o', { detailType: 'd', details }), 'saved');
  });
});
