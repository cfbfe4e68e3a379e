/** The tables of a deployment in the DynamoDB engine of the emulator. */

import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createLimiterTable } from '../limiter/dynamo.ts';

export const tables = { budget: 'budget', cache: 'cache' } as const;

export async function createTables(endpoint: string): Promise<void> {
  await createLimiterTable(endpoint, tables.budget);
  const client = new DynamoDBClient({ endpoint });
  await client.send(
    new CreateTableCommand({
      TableName: tables.cache,
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
  client.destroy();
}
