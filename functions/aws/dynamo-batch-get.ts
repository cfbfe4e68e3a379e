/** Reads items by their keys, all of them or none: a key that DynamoDB leaves unread must not count as absent. */

import { type AttributeValue, BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoSender } from './dynamo-client.ts';

export type Item = Readonly<Record<string, AttributeValue>>;

/** DynamoDB's bound for one BatchGetItem. */
const maxKeys = 100;
/** DynamoDB returns keys unread when it throttles; each read of a function has a few. */
const maxReads = 3;

/** @returns the items that there are, in no order; a read sees every write that was answered before */
export async function batchGet(
  client: DynamoSender,
  tableName: string,
  keys: readonly Item[],
): Promise<readonly Item[]> {
  const parts = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, index) =>
    readSome(client, tableName, keys.slice(index * maxKeys, (index + 1) * maxKeys)),
  );
  return (await Promise.all(parts)).flat();
}

async function readSome(
  client: DynamoSender,
  tableName: string,
  keys: readonly Item[],
): Promise<readonly Item[]> {
  let Keys = [...keys];
  const items: Item[] = [];
  for (let left = maxReads; Keys.length > 0; left--) {
    if (left === 0) throw new Error('DynamoDB left keys unread');
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: true } } }),
    );
    items.push(...(Responses[tableName] ?? []));
    Keys = UnprocessedKeys[tableName]?.Keys ?? [];
  }
  return items;
}
