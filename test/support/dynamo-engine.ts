/** A DynamoDB engine for the tests of one `describe`. */

import { afterAll, beforeAll } from 'vitest';
import { createDynamoClient, type DynamoSender } from '../../functions/aws/dynamo-client.ts';
import { createTable, emulatorEnvironment } from './dynamo.ts';
import { type Ministack, startMinistack } from './ministack.ts';

export interface DynamoEngine {
  readonly endpoint: string;
  /** As functions have it. */
  readonly client: DynamoSender;
  /** @returns the name of a new table with a partition key and a sort key */
  table(): Promise<string>;
}

/** Runs from before the first test, with its credentials in the environment, until after the last. */
export function dynamoEngine(): DynamoEngine {
  let emulator: Ministack;
  let client: DynamoSender;
  let tables = 0;
  beforeAll(async () => {
    Object.assign(process.env, emulatorEnvironment);
    emulator = await startMinistack();
    client = createDynamoClient(emulator.endpoint);
  });
  afterAll(async () => {
    await emulator?.stop();
  });
  return {
    get endpoint() {
      return emulator.endpoint;
    },
    get client() {
      return client;
    },
    async table() {
      const name = `table-${++tables}`;
      await createTable(emulator.endpoint, name);
      return name;
    },
  };
}
