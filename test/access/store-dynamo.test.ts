/** The directory's store over DynamoDB keeps the contract; and its items name no user. */

import assert from 'node:assert/strict';
import { CreateTableCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createDirectory } from '../../lib/access/create-directory.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { emulatorEnvironment } from '../limiter/dynamo.ts';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { accessStoreContract } from './store.contract.ts';

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
    const TableName = `access-${++tables}`;
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
  const storeOf = (tableName: string) => createDynamoAccessStore({ client, tableName, timeoutMs: 60_000 });

  accessStoreContract('DynamoDB', async () => storeOf(await table()));

  test('no item shows a subject, an account, a key, a token, an app or an operator', async () => {
    const tableName = await table();
    const store = storeOf(tableName);
    const canaries = [
      'subject',
      'account',
      'key',
      'role',
      'source',
      'token',
      'app',
      'operator',
      'issuer',
    ].map((one) => `canary-${one}-4711`);
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
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    assert.equal(Items.length, 14);
    const words = [...canaries, 'canary', 'grant', 'block', '123456789012'];
    for (const item of Items) {
      const texts = [JSON.stringify(item)];
      for (const { B } of Object.values(item)) if (B) texts.push(Buffer.from(B).toString('latin1'));
      for (const word of words)
        for (const text of texts) assert.ok(!text.includes(word), `${word} in ${text}`);
    }
    const standing = await createDirectory({ store, identity }).standing({ principal: key });
    assert.deepEqual(standing.kind === 'granted' && [...standing.grants.accounts.keys()], grants.accounts);
  });

  test('operators who grant at the same time all have their say', async () => {
    const store = storeOf(await table());
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
