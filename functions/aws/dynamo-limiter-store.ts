/**
 * The limiter's store of a deployed function: one DynamoDB item per app key, in an on-demand table whose key
 * is a string named `pk`, with `expires_at` as its time to live. A function needs GetItem, PutItem and
 * UpdateItem on it.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { LimiterItem, LimiterStore, WriteAnswer } from '../../lib/limiter/index.ts';
import { asStoreError, type DynamoSender, withLimit, withStoreErrors } from './dynamo-client.ts';
import { absent, isUnmet, number, numberOf, seconds, textOf } from './dynamo-items.ts';

export interface DynamoLimiterStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation. Default 1 second: the limiter itself gives up earlier. */
  readonly timeoutMs?: number;
}

type Item = Record<string, AttributeValue>;

/** @example const store = createDynamoLimiterStore({ client: createDynamoClient(), tableName: 'limits' }); */
export function createDynamoLimiterStore(options: DynamoLimiterStoreOptions): LimiterStore {
  const { tableName: TableName, timeoutMs = 1000 } = options;
  // One attempt: a write that was repeated unseen would count twice, and the limiter has pauses of its own.
  const client = withLimit(options.client, { timeoutMs });

  /** A refused condition returns the item as it is, so that no second read is needed. */
  async function write(attempt: () => Promise<LimiterItem>): Promise<WriteAnswer> {
    try {
      return { written: true, item: await attempt() };
    } catch (error) {
      if (!isUnmet(error)) throw asStoreError(error);
      return { written: false, item: error.Item && toLimiterItem(error.Item) };
    }
  }

  return {
    async read(key) {
      const input = { TableName, Key: { pk: { S: key } }, ConsistentRead: true };
      const { Item } = await withStoreErrors(client).send('GetItem', input);
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
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        });
        return toLimiterItem(Attributes);
      }),

    replace: (key, expected, next, expiresAt) =>
      write(async () => {
        await client.send('PutItem', {
          TableName,
          Item: toItem(key, next, expiresAt),
          ...(expected ? sameAs(expected) : absent),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        });
        return next;
      }),
  };
}

/** Its counters are compared as one map: DynamoDB takes 300 operators in an expression, and an item may have 220 counters. */
const sameAs = ({ revision, counters }: LimiterItem) => ({
  ConditionExpression: '#revision = :revision AND #counters = :counters',
  ExpressionAttributeNames: { '#revision': 'revision', '#counters': 'counters' },
  ExpressionAttributeValues: { ':revision': { S: revision }, ':counters': mapOf(counters) },
});

const mapOf = (counters: LimiterItem['counters']) => ({
  M: Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, number(value)] as const)),
});

function toItem(key: string, { revision, counters, text, writtenAt }: LimiterItem, expiresAt: number): Item {
  return {
    pk: { S: key },
    revision: { S: revision },
    counters: mapOf(counters),
    text: { S: text },
    written_at: number(writtenAt),
    expires_at: seconds(expiresAt),
  };
}

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
