/**
 * The stores of controls and of mass cancels over DynamoDB keep their contracts; and no item names a user, an account or an
 * operator.
 */

import assert from 'node:assert/strict';
import { CreateTableCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoControlAdmin } from '../../functions/aws/dynamo-control-admin.ts';
import { createDynamoMassCancels } from '../../functions/aws/dynamo-mass-cancels.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createControlAdmin, type LimitChanges } from '../../lib/guard-rails/index.ts';
import { emulatorEnvironment } from '../limiter/dynamo.ts';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { controlStoreContract } from './controls.contract.ts';
import { massCancelStoreContract } from './mass-cancels.contract.ts';

Object.assign(process.env, emulatorEnvironment);

describe('DynamoDB', needsEmulator(), () => {
  let emulator: Ministack;
  let client: DynamoDBClient;
  let tables = 0;

  beforeAll(async () => {
    emulator = await startMinistack();
    client = createDynamoClient(emulator.endpoint);
  });
  afterAll(async () => {
    client?.destroy();
    await emulator?.stop();
  });

  async function table(): Promise<string> {
    const TableName = `controls-${++tables}`;
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    );
    return TableName;
  }
  const storeOf = (tableName: string) => createDynamoControlAdmin({ client, tableName, timeoutMs: 60_000 });
  const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');

  controlStoreContract('DynamoDB', async () => storeOf(await table()));
  massCancelStoreContract('DynamoDB', async () => {
    const tableName = await table();
    const massCancels = createDynamoMassCancels({ client, tableName, timeoutMs: 60_000 });
    return { controls: storeOf(tableName), massCancels };
  });

  test('no item shows an account, a user, an operator or a reason', async () => {
    const tableName = await table();
    const by = 'arn:aws:iam::123456789012:user/canary-operator';
    const admin = createControlAdmin({ store: storeOf(tableName), identity, by });
    const subjects = [
      { kind: 'gateway' },
      { kind: 'account', id: 'canary-account' },
      {
        kind: 'user',
        user: { kind: 'user', issuer: 'https://canary-issuer.example', subject: 'canary-subject' },
      },
      { kind: 'user', user: { kind: 'key', id: 'canary-key' } },
    ] as const;
    for (const subject of subjects) {
      await admin.apply({ action: 'limits', subject, changes: { max_orders_per_minute: 3 } });
      await admin.apply({ action: 'stop', subject, reason: 'canary-reason', cancelOpen: true });
    }
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    assert.equal(Items.length, 4 + 8 + 4);
    for (const item of Items) {
      const texts = [JSON.stringify(item)];
      for (const { B } of Object.values(item)) if (B) texts.push(Buffer.from(B).toString('latin1'));
      for (const text of texts) assert.doesNotMatch(text, /canary|123456789012/);
    }
  });

  test('operators who change one scope at the same time all have their say', async () => {
    const store = storeOf(await table());
    const admin = createControlAdmin({ store, identity, by: 'one' });
    const subject = { kind: 'gateway' } as const;
    const changes: readonly LimitChanges[] = [
      { max_orders_per_minute: 3 },
      { max_order_notional: '10' },
      { max_order_quantity: '1' },
      { allowed_sides: ['BUY'] },
    ];
    await Promise.all(changes.map((one) => admin.apply({ action: 'limits', subject, changes: one })));
    const found = await admin.find(subject);
    assert.deepEqual(found?.limits, Object.assign({}, ...changes));
    assert.equal(found?.version, changes.length);
    const lines = await admin.history(100);
    assert.deepEqual(
      lines.map((line) => 'version' in line && line.version).sort(),
      changes.map((_, index) => index + 1),
    );
  });
});
