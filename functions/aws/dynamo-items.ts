/** Items of a table: their numbers, reads of several by key or by the page, and writes whose condition is not met. */

import type { AttributeValue, QueryInput } from '@aws-sdk/client-dynamodb';
import type { DynamoSender } from './dynamo-http.ts';

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
  return (await batchGetOf(client, { [tableName]: keys }))[tableName] ?? [];
}

/**
 * The same of several tables, by their names.
 *
 * @example
 * const { users = [], orders = [] } = await batchGetOf(client, { users: keys, orders: others });
 */
export async function batchGetOf(
  client: DynamoSender,
  keys: Readonly<Record<string, readonly Item[]>>,
): Promise<Readonly<Record<string, readonly Item[]>>> {
  const wanted = Object.entries(keys).flatMap(([name, own]) => own.map((key) => [name, key] as const));
  const found: Record<string, Item[]> = {};
  const readSome = async (some: typeof wanted) => {
    for (let reads = 0, left = some; left.length > 0; reads++) {
      if (reads === maxReads) throw new Error('DynamoDB left keys unread');
      const RequestItems: Record<string, { Keys: Item[]; ConsistentRead: true }> = {};
      for (const [name, key] of left) {
        RequestItems[name] ??= { Keys: [], ConsistentRead: true };
        RequestItems[name].Keys.push(key);
      }
      const { Responses = {}, UnprocessedKeys = {} } = await client.send('BatchGetItem', { RequestItems });
      for (const [name, items] of Object.entries(Responses)) found[name] = [...(found[name] ?? []), ...items];
      left = Object.entries(UnprocessedKeys).flatMap(([name, { Keys = [] }]) =>
        Keys.map((key) => [name, key] as const),
      );
    }
  };
  const parts: Promise<void>[] = [];
  for (let from = 0; from < wanted.length; from += maxKeys)
    parts.push(readSome(wanted.slice(from, from + maxKeys)));
  await Promise.all(parts);
  return found;
}

/** @returns beside the items, in no order, the keys that DynamoDB left unread */
export async function readOnce(
  client: DynamoSender,
  tableName: string,
  keys: readonly Item[],
): Promise<{ readonly items: readonly Item[]; readonly left: readonly Item[] }> {
  const { Responses = {}, UnprocessedKeys = {} } = await client.send('BatchGetItem', {
    RequestItems: { [tableName]: { Keys: [...keys], ConsistentRead: false } },
  });
  return { items: Responses[tableName] ?? [], left: UnprocessedKeys[tableName]?.Keys ?? [] };
}

/** @param value is rounded: all that the stores count and every moment is whole */
export const number = (value: number): AttributeValue.NMember => ({ N: String(Math.round(value)) });

/** @param ms since the epoch; never earlier than that */
export const seconds = (ms: number): AttributeValue.NMember => number(Math.ceil(ms / 1000));

/** @throws TypeError for an item that is none of its store */
export function textOf(item: Item, name: string): string {
  const text = item[name]?.S;
  if (text === undefined) throw new TypeError(`an item without ${name}`);
  return text;
}

/** @throws TypeError for an item that is none of its store */
export function bytesOf(item: Item, name: string): Uint8Array {
  const bytes = item[name]?.B;
  if (!bytes) throw new TypeError(`an item without ${name}`);
  return bytes;
}

/** @throws TypeError for an item that is none of its store */
export function numberOf(item: Item, name: string): number {
  const value = Number(item[name]?.N ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw new TypeError(`an item without ${name}`);
  return value;
}

interface Page {
  readonly Items?: Record<string, AttributeValue>[] | undefined;
  readonly LastEvaluatedKey?: Record<string, AttributeValue> | undefined;
}

type ReadPage = (start: Record<string, AttributeValue> | undefined) => Promise<Page>;

/** Each page when it is needed. */
export async function* pagesOf(read: ReadPage): AsyncIterable<readonly Item[]> {
  let start: Record<string, AttributeValue> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await read(start);
    yield Items;
    start = LastEvaluatedKey;
  } while (start);
}

/** As many items as wanted, or all; of no more pages than wanted. */
export async function pages(
  read: ReadPage,
  limit = Number.POSITIVE_INFINITY,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let count = 0;
  for await (const page of pagesOf(read)) {
    items.push(...page);
    if (items.length >= limit || ++count === maxPages) break;
  }
  return items.slice(0, limit);
}

/** As many items as the query's `Limit`, or all; of no more pages than wanted. */
export const queryAll = (client: DynamoSender, query: QueryInput, maxPages?: number) =>
  pages((ExclusiveStartKey) => client.send('Query', { ...query, ExclusiveStartKey }), query.Limit, maxPages);

/** The condition of a write of an item that is not there. */
export const absent = { ConditionExpression: 'attribute_not_exists(pk)' };

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
