/** The journal's table in an emulator, as the stack has it, and what lies in it. */

import {
  type AttributeValue,
  CreateTableCommand,
  DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import {
  begunAttribute,
  exposedAttribute,
  exposedIndex,
  unsettledAttribute,
  unsettledIndex,
} from '../../functions/aws/dynamo-order-entries.ts';

const clientOf = (endpoint: string) =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });

export async function createJournalTable(endpoint: string, TableName: string): Promise<void> {
  const client = clientOf(endpoint);
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: unsettledAttribute, AttributeType: 'S' },
        { AttributeName: exposedAttribute, AttributeType: 'S' },
        { AttributeName: begunAttribute, AttributeType: 'N' },
      ],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        [unsettledIndex, unsettledAttribute],
        [exposedIndex, exposedAttribute],
      ].map(([IndexName, AttributeName]) => ({
        IndexName,
        KeySchema: [
          { AttributeName, KeyType: 'HASH' },
          { AttributeName: begunAttribute, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
    }),
  );
  client.destroy();
}

export type Item = Readonly<Record<string, AttributeValue>>;

export async function itemsOf(endpoint: string, TableName: string): Promise<readonly Item[]> {
  const client = clientOf(endpoint);
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  client.destroy();
  return Items;
}

/** Bytes as they are, one to a character. */
export const textOfItems = (items: readonly Item[]): string =>
  JSON.stringify(items, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );

/** As DynamoDB counts it, within a few bytes. */
export const bytesOf = (item: Item): number =>
  Object.entries(item).reduce(
    (sum, [name, { S, N, B }]) => sum + name.length + (S ?? N ?? '').length + (B?.length ?? 1),
    0,
  );
