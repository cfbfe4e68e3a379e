/** The directory's store over DynamoDB keeps the contract; and its items name no user. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createDynamoAccessStore } from '../../../functions/aws/dynamo-access-store.ts';
import { createAccessAdmin } from '../../../lib/access/admin.ts';
import { createDirectory } from '../../../lib/access/create-directory.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { textOfItems } from '../../world/dynamo.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { accessStoreContract } from '../store.contract.ts';

describe('DynamoDB', needsDynamo(), () => {
  const engine = dynamoEngine();
  const storeOf = (tableName: string) =>
    createDynamoAccessStore({ client: engine.client, tableName, timeoutMs: 60_000 });

  accessStoreContract('DynamoDB', async () => storeOf(await engine.table()));

  test('no item shows a subject, an account, a key, a token, an app or an operator', async () => {
    const tableName = await engine.table();
    const store = storeOf(tableName);
    const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
    const admin = createAccessAdmin({ store, identity, by: 'canary-operator-4711' });
    const user = {
      kind: 'user',
      issuer: 'https://canary-issuer-4711',
      subject: 'canary-subject-4711',
    } as const;
    const grants = { accounts: ['canary-account-4711'], userData: true, scopes: ['read'] } as const;
    const principals = [
      user,
      { kind: 'key', id: 'canary-key-4711' },
      { kind: 'iam', arn: 'arn:aws:iam::123456789012:role/canary-role-4711' },
      { kind: 'source', name: 'canary-source-4711' },
    ] as const;
    for (const subject of principals) await admin.apply({ action: 'grant', subject, ...grants });
    const key = { kind: 'key', id: 'canary-key-4711-bound' } as const;
    await admin.apply({ action: 'bind', subject: key, user });
    for (const kind of ['token', 'app'] as const)
      await admin.apply({ action: 'block', subject: { kind, id: `canary-${kind}-4711` } });
    const items = await engine.items(tableName);
    assert.equal(items.length, 14);
    assert.doesNotMatch(textOfItems(items), /canary|grant|block|123456789012/);
    const standing = await createDirectory({ store, identity }).standing({ principal: key });
    assert.deepEqual(standing.kind === 'granted' && [...standing.grants.accounts.keys()], grants.accounts);
  });

  test('operators who grant at the same time all have their say', async () => {
    const store = storeOf(await engine.table());
    const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
    const subject = { kind: 'key', id: 'a' } as const;
    const accounts = Array.from({ length: 5 }, (_, index) => `account-${index}`);
    const admin = createAccessAdmin({ store, identity, by: 'one' });
    await Promise.all(
      accounts.map((account) =>
        admin.apply({ action: 'grant', subject, accounts: [account], userData: false, scopes: ['read'] }),
      ),
    );
    const found = await admin.find(subject);
    assert.ok(found && 'accounts' in found.record);
    assert.deepEqual(
      found.record.accounts.map(([account]) => account),
      accounts,
    );
    assert.equal((await admin.audit(100)).length, 5);
  });
});
