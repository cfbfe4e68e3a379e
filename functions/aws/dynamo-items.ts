/** Items of a table: their numbers, reads of several by key or by the page, and writes whose condition is not met. */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoSender } from './dynamo-client.ts';

export type Item = Readonly<Record<string, AttributeValue>>;

/** DynamoDB's bound for one BatchGetItem. */
const maxKeys = 100;
/** DynamoDB returns keys unread when it throttles; each read of a function has a few. */
const maxReads = 3;

/**
 * Reads items by their keys, all of them or none: a key that DynamoDB leaves unread must not count as absent.
 *
 * @returns the items that there are, in no order; a read sees every write that was answered before
 */
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
    const { Responses = {}, UnprocessedKeys = {} } = await client.send('BatchGetItem', {
      RequestItems: { [tableName]: { Keys, ConsistentRead: true } },
    });
    items.push(...(Responses[tableName] ?? []));
    Keys = UnprocessedKeys[tableName]?.Keys ?? [];
  }
  return items;
}

/** @param value is rounded: all that the stores count and every moment is whole */
export const number = (value: number): AttributeValue.NMember => ({ N: String(Math.round(value)) });

/** @param ms since the epoch; never earlier than that */
export const seconds = (ms: number): AttributeValue.NMember => number(Math.ceil(ms / 1000));

interface Page {
  readonly Items?: Record<string, AttributeValue>[] | undefined;
  readonly LastEvaluatedKey?: Record<string, AttributeValue> | undefined;
}

/** As many items as wanted, or all; of no more pages than wanted. */
export async function pages(
  read: (start: Record<string, AttributeValue> | undefined) => Promise<Page>,
  { limit = Number.POSITIVE_INFINITY, maxPages = Number.POSITIVE_INFINITY } = {},
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let start: Record<string, AttributeValue> | undefined;
  let count = 0;
  do {
    const { Items = [], LastEvaluatedKey } = await read(start);
    items.push(...Items);
    start = LastEvaluatedKey;
  } while (start && items.length < limit && ++count < maxPages);
  return items.slice(0, limit);
}

/** The condition of a write of one item was not met. The item is there where the request asks for it. */
export const isUnmet = (error: unknown): error is { readonly Item?: Record<string, AttributeValue> } =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException';

/** Whether the condition of a write was met. */
export async function isMet(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isUnmet(error)) return false;
    throw error;
  }
}
