/**
 * The response store of a deployed function, in the table of the snapshots. A response and its lease are separate
 * items, because DynamoDB charges a lease by the size of its item. A function needs GetItem, PutItem, UpdateItem and
 * DeleteItem on the table.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  maxStoredBytes,
  minuteOf,
  type ResponseContent,
  type ResponseStore,
  type StoredResponse,
} from '../../lib/cache/responses/index.ts';
import { compress, decompress } from './brotli.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { isMet, number, seconds } from './dynamo-items.ts';

export interface DynamoResponseStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation, in milliseconds. Default 300: a client is waiting. */
  readonly timeoutMs?: number;
  /** Names the upstream whose responses are shared. */
  readonly partition: string;
}

/** Where all that it keeps lies: apart from snapshots, which are prices to others. A star stands for anything. */
export const responsePartitions = ['answers#*', 'spent#*'];

const maxUnpackedBytes = 16 * 1024 * 1024;

/** @example const store = createDynamoResponseStore({ client: createDynamoClient(), tableName: 'cache', partition: 'upstream' }); */
export function createDynamoResponseStore(options: DynamoResponseStoreOptions): ResponseStore {
  const { tableName: TableName, partition, timeoutMs = 300 } = options;
  const client = withLimit(options.client, { timeoutMs });
  const keyOf = (key: string, item: 'answer' | 'lease') => ({
    pk: { S: `answers#${partition}#${key}` },
    sk: { S: item },
  });
  return {
    async read(key, consistency) {
      const Key = keyOf(key, 'answer');
      const { Item } = await client.send('GetItem', {
        TableName,
        Key,
        ...(consistency && { ConsistentRead: true }),
      });
      return Item && toResponse(Item);
    },
    async lease(key, now, until) {
      return isMet(
        client.send('PutItem', {
          TableName,
          Item: { ...keyOf(key, 'lease'), lease_until: number(until), expires_at: seconds(until) },
          ConditionExpression: 'attribute_not_exists(lease_until) OR lease_until <= :now',
          ExpressionAttributeValues: { ':now': number(now) },
        }),
      );
    },
    async release(key, at) {
      await client.send('PutItem', {
        TableName,
        Item: { ...keyOf(key, 'lease'), lease_until: number(at), expires_at: seconds(at) },
      });
    },
    async write(key, { askedAt, ...content }, expiresAt) {
      const packed = pack(content);
      const put = {
        TableName,
        Item: {
          ...keyOf(key, 'answer'),
          kind: { S: content.kind },
          content: { B: packed },
          asked_at: number(askedAt),
          expires_at: seconds(expiresAt),
        },
      };
      try {
        if (packed.length <= maxStoredBytes) await client.send('PutItem', put);
      } finally {
        // The next request finds the response; without one, or when it is stale, that request may fetch.
        await client.send('DeleteItem', { TableName, Key: keyOf(key, 'lease') });
      }
    },
    async countUse(account, now, max) {
      const minute = minuteOf(now);
      return isMet(
        client.send('UpdateItem', {
          TableName,
          Key: { pk: { S: `spent#${partition}#${account}` }, sk: { S: String(minute) } },
          UpdateExpression: 'ADD spent :one SET expires_at = :expires',
          ConditionExpression: 'attribute_not_exists(spent) OR spent < :most',
          ExpressionAttributeValues: {
            ':one': number(1),
            ':most': number(max),
            ':expires': seconds((minute + 2) * 60_000),
          },
        }),
      );
    },
  };
}

function pack(content: ResponseContent): Uint8Array {
  const bytes =
    content.kind === 'answer' ? content.body : Buffer.from(JSON.stringify(content.refusal ?? null));
  return compress(bytes);
}

/** Undefined when the item contains no response. */
function toResponse({
  kind,
  content,
  asked_at: asked,
}: Record<string, AttributeValue>): StoredResponse | undefined {
  const askedAt = Number(asked?.N);
  if (!content?.B || !Number.isFinite(askedAt)) return undefined;
  try {
    const bytes = decompress(content.B, maxUnpackedBytes);
    // A copy, because the result of decompression keeps a much larger buffer in memory.
    if (kind?.S === 'answer') return { kind: 'answer', body: new Uint8Array(bytes), askedAt };
    if (kind?.S !== 'refused') return undefined;
    return { kind: 'refused', refusal: JSON.parse(bytes.toString()), askedAt };
  } catch {
    return undefined;
  }
}
