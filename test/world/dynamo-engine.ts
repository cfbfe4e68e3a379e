/** DynamoDB for the tests of one `describe`: in the project `emulator` its engine, elsewhere the tables of this process. */

import { afterAll, beforeAll } from 'vitest';
import { createDynamoClient, type DynamoSender } from '../../functions/aws/dynamo-client.ts';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import type { Skipped } from '../support/missing.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { createTable, emulatorEnvironment, type Item, itemsOf } from './dynamo.ts';
import { DynamoTables } from './dynamo-tables.ts';

export interface DynamoEngine {
  /** Of the emulator alone. */
  readonly endpoint: string;
  /** As functions have it. */
  readonly client: DynamoSender;
  /**
   * @param keys default a partition key and a sort key
   * @returns the name of a new table
   */
  table(keys?: Keys, more?: More): Promise<string>;
  items(tableName: string): Promise<readonly Item[]>;
}

type Keys = Parameters<typeof createTable>[2];
type More = Parameters<typeof createTable>[3];

/** Set by `vitest.config.ts`. */
const isEmulated = process.env.DYNAMODB === 'emulator';

export const needsDynamo = (): Skipped => (isEmulated ? needsEmulator() : {});

/** From before the first test, with credentials in the environment, until after the last. */
export function dynamoEngine(): DynamoEngine {
  beforeAll(() => void Object.assign(process.env, emulatorEnvironment));
  return isEmulated ? emulatorEngine() : engineHere();
}

function engineHere(): DynamoEngine {
  const client = new DynamoTables();
  let tables = 0;
  return {
    endpoint: 'no endpoint',
    client,
    async table(_, { GlobalSecondaryIndexes = [] } = {}) {
      for (const { IndexName, Projection } of GlobalSecondaryIndexes)
        if (Projection?.ProjectionType === 'KEYS_ONLY') client.keysOnly.add(IndexName!);
      return `table-${++tables}`;
    },
    items: async (tableName) => client.items(tableName),
  };
}

function emulatorEngine(): DynamoEngine {
  let emulator: Ministack;
  let client: DynamoSender;
  let tables = 0;
  beforeAll(async () => {
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
    async table(keys, more) {
      const name = `table-${++tables}`;
      await createTable(emulator.endpoint, name, keys, more);
      return name;
    },
    items: (tableName) => itemsOf(emulator.endpoint, tableName),
  };
}
