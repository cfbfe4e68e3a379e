/** The stores on DynamoDB keep the same contracts as those in memory. */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createDynamoDirectoryStore } from '../../../functions/aws/dynamo-directory-store.ts';
import { createDynamoResponseStore } from '../../../functions/aws/dynamo-response-store.ts';
import { createDynamoSnapshotStore } from '../../../functions/aws/dynamo-snapshot-store.ts';
import { createDynamoStreamedLog } from '../../../functions/aws/dynamo-streamed-log.ts';
import { answerStoreContract } from '../../responses/response-store.contract.ts';
import { dynamoEngine, needsDynamo } from '../../world/dynamo-engine.ts';
import { directoryStoreContract } from '../directory-store.contract.ts';
import { snapshotStoreContract } from '../snapshot-store.contract.ts';
import { streamedLogContract } from '../streamed-log.contract.ts';

describe('the DynamoDB engine', needsDynamo(), () => {
  let tableName: string;
  const timeoutMs = 10_000;
  const engine = dynamoEngine();
  beforeAll(async () => {
    tableName = await engine.table();
  });

  let count = 0;
  /** A partition of its own for each test. */
  const partition = () => `test-${count++}`;

  snapshotStoreContract('snapshots on DynamoDB', () =>
    createDynamoSnapshotStore({ client: engine.client, tableName, timeoutMs, partition: partition() }),
  );
  test('starts are counted: one is few, and hundreds are many', async () => {
    const store = createDynamoSnapshotStore({
      client: engine.client,
      tableName,
      timeoutMs,
      partition: partition(),
    });
    assert.ok((await store.countStart()) <= 1);
    const counts = await Promise.all(Array.from({ length: 400 }, () => store.countStart()));
    // A count is of its second, and on a busy machine they take several.
    assert.ok(Math.max(...counts) > 8, `${Math.max(...counts)}`);
    assert.ok(Math.max(...counts) <= 1600, `${Math.max(...counts)}`);
  });
  streamedLogContract('log of the market stream on DynamoDB', (clock) =>
    createDynamoStreamedLog({ client: engine.client, tableName, timeoutMs, partition: partition(), clock }),
  );
  answerStoreContract('answers on DynamoDB', () =>
    createDynamoResponseStore({ client: engine.client, tableName, timeoutMs, partition: partition() }),
  );
  directoryStoreContract('directory on DynamoDB', () =>
    createDynamoDirectoryStore({ client: engine.client, tableName, timeoutMs, partition: partition() }),
  );
});
