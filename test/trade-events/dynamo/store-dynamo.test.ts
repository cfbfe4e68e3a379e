/** The store of trade events over DynamoDB keeps the contract; besides, what lies in its items. */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import {
  createDynamoTradeEventStore,
  workAttribute,
  workIndex,
} from '../../../functions/aws/dynamo-trade-event-store.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import type { LeaseState, TradeEventStore } from '../../../lib/trade-events/index.ts';
import { keySchema, textAttributes, textOfItems } from '../../world/dynamo.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { tradeEventStoreContract } from '../store.contract.ts';

describe('DynamoDB', needsDynamo(), () => {
  let tableName: string;
  const expiresAt = Date.UTC(2036, 0, 1) + 1;
  const engine = dynamoEngine();
  let store: TradeEventStore;
  let otherKey: TradeEventStore;
  beforeAll(async () => {
    // The same key and index as the stack's.
    tableName = await engine.table(['pk', 'sk'], {
      AttributeDefinitions: textAttributes(['pk', 'sk', workAttribute]),
      LocalSecondaryIndexes: [
        {
          IndexName: workIndex,
          KeySchema: keySchema(['pk', workAttribute]),
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    });
    const options = { client: engine.client, tableName, timeoutMs: 10_000 };
    const sealerOf = (letter: string) => createIdentity(async () => letter.repeat(32)).sealer;
    store = createDynamoTradeEventStore({ ...options, sealer: sealerOf('k') });
    otherKey = createDynamoTradeEventStore({ ...options, sealer: sealerOf('o') });
  });

  tradeEventStoreContract('DynamoDB', () => store);

  const itemsIn = async (lease: string) =>
    (await engine.items(tableName)).filter(({ pk }) => pk?.S === lease);

  const order = { order: 'o', expected: undefined, state: '{"account":"CANARY-1"}', isOpen: true, expiresAt };
  const event = { id: 'e', detailType: 'OrderChanged' as const, detail: '{"account_id":"CANARY-2"}' };

  test('contents are sealed, and open with their own key alone', async () => {
    const lease = 'sealed';
    assert.equal(await store.add({ lease, event, order, now: 1, expiresAt }), 'added');
    const text = textOfItems(await itemsIn(lease));
    assert.ok(text.length > 200);
    assert.ok(!text.includes('CANARY'));
    await assert.rejects(otherKey.known(lease, ['o']), /does not open/);
    await assert.rejects(otherKey.unpublished(lease, 1), /does not open/);
  });

  test('the lease has the attributes that listeners of former versions read', async () => {
    const lease = 'attributes';
    const call = { lease, owner: 'one', until: 7, endsAt: 8 };
    await store.acquire(call);
    const [acquired] = await itemsIn(lease);
    const times = { until: { N: '7' }, ends_at: { N: '8' } };
    const key = { pk: { S: lease }, sk: { S: 'lease' } };
    assert.deepEqual(acquired, { ...key, ...times, owner: { S: 'one' } });
    const state: LeaseState = { until: 7, endsAt: 8, lastSignAt: 9 };
    await store.renew(lease, 'one', state);
    const [renewed] = await itemsIn(lease);
    assert.deepEqual(
      [renewed?.owner, renewed?.until, renewed?.ends_at],
      [{ S: 'one' }, ...Object.values(times)],
    );
    await store.release(lease, 'one', { until: 0, endsAt: 8 });
    assert.equal((await itemsIn(lease))[0]?.owner, undefined);
  });

  test('an event expires after it was published, and not before', async () => {
    const lease = 'expiry';
    await store.add({ lease, event, now: 1, expiresAt });
    const [before] = await itemsIn(lease);
    assert.equal(before?.expires_at, undefined);
    await store.published(lease, ['e']);
    const [after] = await itemsIn(lease);
    assert.deepEqual(after?.expires_at, { N: String(Math.ceil(expiresAt / 1000)) });
    assert.equal(after?.sealed, undefined);
  });
});
