/** Helpers for items of a table: attributes, reads of several by key or by page, and writes with unmet conditions. */

import type { AttributeValue, QueryInput } from '@aws-sdk/client-dynamodb';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import type { DynamoSender } from './dynamo-http.ts';

export type Item = Readonly<Record<string, AttributeValue>>;

/** Most keys of one BatchGetItem. */
const maxKeys = 100;
/** Most reads until all keys are read: DynamoDB returns keys unread when it throttles. */
const maxReads = 3;

/**
 * Reads items by their keys, all of them or none: a key that DynamoDB leaves unread must not count as absent.
 *
 * @returns the items that exist, in no order; a read sees every write that was answered before
 */
export async function batchGet(
  client: DynamoSender,
  tableName: string,
  keys: readonly Values[],
): Promise<readonly Item[]> {
  return (await batchGetOf(client, { [tableName]: keys }))[tableName] ?? [];
}

/**
 * Reads items of several tables by their keys, all of them or none. Keys and items are grouped by table name.
 *
 * @example
 * const { users = [], orders = [] } = await batchGetOf(client, { users: keys, orders: others });
 */
export async function batchGetOf(
  client: DynamoSender,
  keys: Readonly<Record<string, readonly Values[]>>,
): Promise<Readonly<Record<string, readonly Item[]>>> {
  const wanted = Object.entries(keys).flatMap(([name, own]) =>
    own.map((key) => [name, toItem(key)] as const),
  );
  const found: Record<string, Item[]> = {};
  const readSome = async (some: typeof wanted) => {
    for (let reads = 0, left = some; left.length > 0; reads++) {
      if (reads === maxReads) throw new StoreThrottled(new Error('DynamoDB left keys unread'));
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

/** @returns the items, in no order, and the keys that DynamoDB left unread */
export async function readOnce(
  client: DynamoSender,
  tableName: string,
  keys: readonly Values[],
): Promise<{ readonly items: readonly Item[]; readonly left: readonly Item[] }> {
  const { Responses = {}, UnprocessedKeys = {} } = await client.send('BatchGetItem', {
    RequestItems: { [tableName]: { Keys: keys.map(toItem), ConsistentRead: false } },
  });
  return { items: Responses[tableName] ?? [], left: UnprocessedKeys[tableName]?.Keys ?? [] };
}

/** @param value rounded, because all counts and moments of the stores are whole numbers */
export const number = (value: number): AttributeValue.NMember => ({ N: String(Math.round(value)) });

/** @param ms milliseconds since the epoch, rounded up to seconds so that the time is never earlier */
export const seconds = (ms: number): AttributeValue.NMember => number(Math.ceil(ms / 1000));

/** An attribute's content: a text, a number that is rounded, bytes, or anything else in DynamoDB's own form. */
export type Value = string | number | Uint8Array | AttributeValue;

/** Attributes by name; undefined ones are left out. */
export type Values = Readonly<Record<string, Value | undefined>>;

export function toAttribute(value: Value): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return number(value);
  return value instanceof Uint8Array ? { B: value } : value;
}

export const toItem = (values: Values): Item =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, toAttribute(value)]],
    ),
  );

/** @throws TypeError for an item that is none of its store */
export function textOf<T extends string = string>(item: Item, name: string): T {
  const text = item[name]?.S;
  if (text === undefined) throw new TypeError(`an item without ${name}`);
  return text as T;
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

type Reader<T> = (item: Item, name: string) => T;

export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (item, name) =>
    item[name] && read(item, name);

/**
 * Creates a codec between objects and items.
 *
 * @param fields the attribute of each member, and the function that reads it
 * @param fixed attributes that all of these items have
 *
 * @example const line = codec<SealedLine>({ id: ['sk', textOf], sealed: ['sealed', bytesOf] }, { pk: 'lines' });
 */
export function codec<T extends object>(
  fields: {
    readonly [Member in keyof Required<T>]: readonly [attribute: string, read: Reader<T[Member]>];
  },
  fixed: Values = {},
) {
  const all = Object.entries(fields) as [keyof T, readonly [string, Reader<unknown>]][];
  return {
    write: (value: T): Values => ({
      ...fixed,
      ...Object.fromEntries(all.map(([member, [name]]) => [name, value[member] as Value | undefined])),
    }),
    /** @throws TypeError for an item that is none of its store */
    read: (item: Item): T =>
      Object.fromEntries(
        all.flatMap(([member, [name, read]]) => {
          const one = read(item, name);
          return one === undefined ? [] : [[member, one]];
        }),
      ) as T,
  };
}

interface Page {
  readonly Items?: Record<string, AttributeValue>[] | undefined;
  readonly LastEvaluatedKey?: Record<string, AttributeValue> | undefined;
}

type ReadPage = (start: Record<string, AttributeValue> | undefined) => Promise<Page>;

/** Reads pages one by one, each when it is needed. */
export async function* pagesOf(read: ReadPage): AsyncIterable<readonly Item[]> {
  let start: Record<string, AttributeValue> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await read(start);
    yield Items;
    start = LastEvaluatedKey;
  } while (start);
}

/** Reads the pages of a query, each when it is needed. */
export const queryPages = (client: DynamoSender, query: QueryInput) =>
  pagesOf((ExclusiveStartKey) => client.send('Query', { ...query, ExclusiveStartKey }));

/** Reads as many items as the query's `Limit`, or all, but no more than the given number of pages. */
export async function queryAll(
  client: DynamoSender,
  query: QueryInput,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const { Limit: limit = Number.POSITIVE_INFINITY } = query;
  const items: Item[] = [];
  let count = 0;
  for await (const page of queryPages(client, query)) {
    items.push(...page);
    if (items.length >= limit || ++count === maxPages) break;
  }
  return items.slice(0, limit);
}

/** Whether the error says that the condition of a single write was not met; it has the item if the request asks for it. */
export const isUnmet = (error: unknown): error is { readonly Item?: Record<string, AttributeValue> } =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException';

/** Whether the condition of a write was met. @param isNot whether an error means that it was not */
export async function isMet(
  write: Promise<unknown>,
  isNot: (error: unknown) => boolean = isUnmet,
): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isNot(error)) return false;
    throw error;
  }
}
