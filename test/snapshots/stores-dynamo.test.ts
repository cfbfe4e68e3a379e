/** The stores on DynamoDB keep the same contracts as those in memory. */

import assert from 'node:assert/strict';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoDirectoryStore } from '../../functions/aws/dynamo-directory-store.ts';
import { createDynamoResponseStore } from '../../functions/aws/dynamo-response-store.ts';
import { createDynamoSnapshotStore } from '../../functions/aws/dynamo-snapshot-store.ts';
import { answerStoreContract } from '../responses/response-store.contract.ts';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { directoryStoreContract } from './directory-store.contract.ts';
import { snapshotStoreContract } from './snapshot-store.contract.ts';

describe('the DynamoDB engine', needsEmulator(), () => {
  const tableName = 'shared';
  const timeoutMs = 10_000;
  let emulator: Ministack;
  let client: DynamoDBClient;

  beforeAll(async () => {
    emulator = await startMinistack();
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: emulator.region,
    });
    client = createDynamoClient(emulator.endpoint);
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
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
  });

  afterAll(async () => {
    client?.destroy();
    await emulator?.stop();
  });

  let count = 0;
  /** A partition of its own for each test. */
  const partition = () => `test-${count++}`;

  snapshotStoreContract('snapshots on DynamoDB', () =>
    createDynamoSnapshotStore({ client, tableName, timeoutMs, partition: partition() }),
  );
  test('starts are counted: one is few, and hundreds are many', async () => {
    const store = createDynamoSnapshotStore({ client, tableName, timeoutMs, partition: partition() });
    assert.ok((await store.countStart()) <= 1);
    const counts = await Promise.all(Array.from({ length: 400 }, () => store.countStart()));
    // A count is of its second, and on a busy machine they take several.
    assert.ok(Math.max(...counts) > 8, `${Math.max(...counts)}`);
    assert.ok(Math.max(...counts) <= 1600, `${Math.max(...counts)}`);
  });
  answerStoreContract('answers on DynamoDB', () =>
    createDynamoResponseStore({ client, tableName, timeoutMs, partition: partition() }),
  );
  directoryStoreContract('directory on DynamoDB', () =>
    createDynamoDirectoryStore({ client, tableName, timeoutMs, partition: partition() }),
  );
});
