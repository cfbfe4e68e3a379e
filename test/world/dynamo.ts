/** Tables in the DynamoDB engine of the emulator, and what lies in them. */

import {
  type AttributeValue,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';

export const emulatorEnvironment = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
};

/** Calls it with a client that needs no environment, and ends the client. */
async function withClient<T>(endpoint: string, use: (client: DynamoDBClient) => Promise<T>): Promise<T> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint, region: emulatorEnvironment.AWS_REGION, credentials });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

export const keySchema = (keys: readonly string[]) =>
  keys.map((AttributeName, index) => ({ AttributeName, KeyType: index ? 'RANGE' : 'HASH' }) as const);
export const textAttributes = (names: readonly string[]) =>
  names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }) as const);

/** On demand, with keys of text; `more` has what else the stack gives it. */
export const createTable = (
  endpoint: string,
  TableName: string,
  keys: readonly string[] = ['pk', 'sk'],
  more: Partial<CreateTableCommandInput> = {},
) =>
  withClient(endpoint, (client) =>
    client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: textAttributes(keys),
        KeySchema: keySchema(keys),
        ...more,
      }),
    ),
  );

export async function createLimiterTable(endpoint: string, TableName: string): Promise<void> {
  await createTable(endpoint, TableName, ['pk']);
  const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
  await withClient(endpoint, (client) =>
    client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification })),
  );
}

export type Item = Readonly<Record<string, AttributeValue>>;

export const itemsOf = async (endpoint: string, TableName: string): Promise<readonly Item[]> =>
  (await withClient(endpoint, (client) => client.send(new ScanCommand({ TableName })))).Items ?? [];

/** Bytes as they are, one to a character. */
export const textOfItems = (items: readonly Item[]): string =>
  JSON.stringify(items, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );

/** As DynamoDB counts it, within a few bytes. */
export const bytesOf = (item: Item): number =>
  Object.entries(item).reduce(
    (sum, [name, { S = '', N = '', B, M = {}, SS = [] }]) =>
      sum + Buffer.byteLength([name, S, N, ...SS].join('')) + bytesOf(M) + (B?.length ?? 1),
    0,
  );

/** Keeps all items of a table. @returns what makes it the table that it was */
export async function copyOfTable(endpoint: string, TableName: string): Promise<() => Promise<void>> {
  const kept = await itemsOf(endpoint, TableName);
  return async () => {
    const now = await itemsOf(endpoint, TableName);
    await withClient(endpoint, async (client) => {
      for (const { pk, sk } of now)
        await client.send(new DeleteItemCommand({ TableName, Key: { pk: pk!, ...(sk && { sk }) } }));
      for (const Item of kept) await client.send(new PutItemCommand({ TableName, Item }));
    });
  };
}
