/** The store of streams on DynamoDB keeps the contract of that in memory. */

import { beforeAll, describe } from 'vitest';
import { createDynamoStreamStore } from '../../functions/aws/dynamo-stream-store.ts';
import { dynamoEngine, needsDynamo } from '../support/dynamo-engine.ts';
import { streamStoreContract } from './stream-store.contract.ts';

describe('the DynamoDB engine', needsDynamo(), () => {
  let tableName: string;
  const engine = dynamoEngine();
  beforeAll(async () => {
    tableName = await engine.table();
  });

  let count = 0;
  streamStoreContract('on DynamoDB', () =>
    createDynamoStreamStore({
      client: engine.client,
      tableName,
      partition: `test-${count++}`,
      timeoutMs: 10_000,
    }),
  );
});
