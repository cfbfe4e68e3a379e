/**
 * The limiter's store of a deployed function: one DynamoDB item per app key, in an on-demand table whose key
 * is a string named `pk`, with `expires_at` as its time to live. A function needs GetItem, PutItem and
 * UpdateItem on it.
 */

import type { LimiterItem, LimiterStore, WriteAnswer } from '../../lib/limiter/index.ts';
import { type StoreOptions, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put, tellsItem } from './dynamo-expressions.ts';
import { type Item, isUnmet, number, numberOf, seconds, textOf } from './dynamo-items.ts';

/** @example const store = createDynamoLimiterStore({ client: createDynamoClient(), tableName: 'limits' }); */
export function createDynamoLimiterStore(options: StoreOptions): LimiterStore {
  // The limiter itself gives up earlier.
  const { tableName: TableName, timeoutMs = 1000 } = options;
  // Only one attempt, because a repeated write could count twice, and the limiter has pauses of its own.
  const client = withLimit(options.client, { timeoutMs });

  /** A refused condition returns the item as it is, so that no second read is needed. */
  async function write(attempt: () => Promise<LimiterItem>): Promise<WriteAnswer> {
    try {
      return { written: true, item: await attempt() };
    } catch (error) {
      if (!isUnmet(error)) throw error;
      return { written: false, item: error.Item && toLimiterItem(error.Item) };
    }
  }

  return {
    async read(key) {
      const input = { TableName, Key: { pk: { S: key } }, ConsistentRead: true };
      const { Item } = await client.send('GetItem', input);
      return Item && toLimiterItem(Item);
    },

    add: (key, revision, additions, writtenAt) =>
      write(async () => {
        const names: Record<string, string> = { '#revision': 'revision', '#counters': 'counters' };
        const values: Item = { ':revision': { S: revision }, ':at': number(writtenAt) };
        const sets = ['written_at = :at'];
        const conditions = ['#revision = :revision'];
        for (const [index, { counter, by, min, max }] of additions.entries()) {
          names[`#c${index}`] = counter;
          Object.assign(values, {
            [`:by${index}`]: number(by),
            [`:low${index}`]: number(min),
            [`:high${index}`]: number(max),
          });
          sets.push(`#counters.#c${index} = #counters.#c${index} + :by${index}`);
          conditions.push(`#counters.#c${index} BETWEEN :low${index} AND :high${index}`);
        }
        const { Attributes = {} } = await client.send('UpdateItem', {
          TableName,
          Key: { pk: { S: key } },
          UpdateExpression: `SET ${sets.join(', ')}`,
          ConditionExpression: conditions.join(' AND '),
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: values,
          ReturnValues: 'ALL_NEW',
          ...tellsItem,
        });
        return toLimiterItem(Attributes);
      }),

    replace: (key, expected, next, expiresAt) =>
      write(async () => {
        const request = put(TableName, valuesOf(key, next, expiresAt), expected ? isAs(expected) : isAbsent);
        await client.send('PutItem', { ...request, ...tellsItem });
        return next;
      }),
  };
}

/** Compares counters as one map: DynamoDB accepts 300 operators in an expression, and an item may have 220 counters. */
const isAs = ({ revision, counters }: LimiterItem) =>
  expression`#revision = ${revision} AND #counters = ${mapOf(counters)}`;

const mapOf = (counters: LimiterItem['counters']) => ({
  M: Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, number(value)] as const)),
});

const valuesOf = (key: string, { revision, counters, text, writtenAt }: LimiterItem, expiresAt: number) => ({
  pk: key,
  revision,
  counters: mapOf(counters),
  text,
  written_at: writtenAt,
  expires_at: seconds(expiresAt),
});

/** @throws TypeError when the attributes are not those of a limiter's item */
function toLimiterItem(item: Item): LimiterItem {
  const counters = item.counters?.M;
  if (!counters) throw new TypeError('not an item of the limiter');
  const values = Object.keys(counters).map((name) => [name, notNegative(counters, name)] as const);
  return {
    revision: textOf(item, 'revision'),
    counters: Object.fromEntries(values),
    text: textOf(item, 'text'),
    writtenAt: notNegative(item, 'written_at'),
  };
}

function notNegative(item: Item, name: string): number {
  const value = numberOf(item, name);
  if (value < 0) throw new TypeError('not an item of the limiter');
  return value;
}
