/**
 * The stores of controls and of mass cancels over DynamoDB keep their contracts; and no item names a user, an account or an
 * operator.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createDynamoControlAdmin } from '../../../functions/aws/dynamo-control-admin.ts';
import { createDynamoMassCancels } from '../../../functions/aws/dynamo-mass-cancels.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { createControlAdmin, type LimitChanges } from '../../../lib/guard-rails/index.ts';
import { textOfItems } from '../../world/dynamo.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { controlStoreContract } from '../controls.contract.ts';
import { massCancelStoreContract } from '../mass-cancels.contract.ts';

describe('DynamoDB', needsDynamo(), () => {
  const engine = dynamoEngine();
  const storeOf = (tableName: string) =>
    createDynamoControlAdmin({ client: engine.client, tableName, timeoutMs: 60_000 });
  const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');

  controlStoreContract('DynamoDB', async () => storeOf(await engine.table()));
  massCancelStoreContract('DynamoDB', async () => {
    const tableName = await engine.table();
    const massCancels = createDynamoMassCancels({ client: engine.client, tableName, timeoutMs: 60_000 });
    return { controls: storeOf(tableName), massCancels };
  });

  test('no item shows an account, a user, an operator or a reason', async () => {
    const tableName = await engine.table();
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
    const items = await engine.items(tableName);
    assert.equal(items.length, 4 + 8 + 4);
    assert.doesNotMatch(textOfItems(items), /canary|123456789012/);
  });

  test('operators who change one scope at the same time all have their say', async () => {
    const store = storeOf(await engine.table());
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
