/** The store of streams on DynamoDB keeps the contract of that in memory. */

import { beforeAll, describe } from 'vitest';
import { createDynamoStreamStore } from '../../functions/aws/dynamo-stream-store.ts';
import { createTable } from '../support/dynamo.ts';
import { dynamoEngine } from '../support/dynamo-engine.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { streamStoreContract } from './stream-store.contract.ts';

describe('the DynamoDB engine', needsEmulator(), () => {
  const tableName = 'shared';
  const engine = dynamoEngine();
  beforeAll(() => createTable(engine.endpoint, tableName));

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
