/**
 * The answer store of a deployed function, in the table of the quotes: an answer and its lease are items of
 * their own, because taking a lease is paid for by the size of what it stands in. A function needs GetItem,
 * PutItem, UpdateItem and DeleteItem on it.
 */

import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  minuteOf,
  type ResponseContent,
  type ResponseStore,
  type StoredResponse,
} from '../../lib/cache/responses/index.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';

export interface DynamoResponseStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation, in milliseconds. Default 300: a client waits for the function meanwhile. */
  readonly timeoutMs?: number;
  /** Names what shares answers: an upstream account, whose subscriptions decide what is in them. */
  readonly partition: string;
}

/** DynamoDB's 400 kB, less keys and the other attributes. */
const mostBytes = 390 * 1024;
const mostUnpacked = 16 * 1024 * 1024;
const quality = 5;

export function createDynamoResponseStore(options: DynamoResponseStoreOptions): ResponseStore {
  const { tableName: TableName, partition, timeoutMs = 300 } = options;
  const client = withLimit(options.client, { timeoutMs });
  const keyOf = (key: string, item: 'answer' | 'lease') => ({
    pk: { S: `answers#${partition}#${key}` },
    sk: { S: item },
  });
  return {
    async read(key) {
      const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyOf(key, 'answer') }));
      return Item && toAnswer(Item);
    },
    async lease(key, now, until) {
      return isMet(
        client.send(
          new PutItemCommand({
            TableName,
            Item: { ...keyOf(key, 'lease'), lease_until: number(until), expires_at: seconds(until) },
            ConditionExpression: 'attribute_not_exists(lease_until) OR lease_until <= :now',
            ExpressionAttributeValues: { ':now': number(now) },
          }),
        ),
      );
    },
    async release(key, at) {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: { ...keyOf(key, 'lease'), lease_until: number(at), expires_at: seconds(at) },
        }),
      );
    },
    async write(key, { askedAt, ...content }, expiresAt) {
      const packed = pack(content);
      const put = new PutItemCommand({
        TableName,
        Item: {
          ...keyOf(key, 'answer'),
          kind: { S: content.kind },
          content: { B: packed },
          asked_at: number(askedAt),
          expires_at: seconds(expiresAt),
        },
      });
      try {
        if (packed.length <= mostBytes) await client.send(put);
      } finally {
        // Whoever asks next finds the answer; should there be none, or be stale by then, he may ask anew.
        await client.send(new DeleteItemCommand({ TableName, Key: keyOf(key, 'lease') }));
      }
    },
    async countUse(account, now, most) {
      const minute = minuteOf(now);
      return isMet(
        client.send(
          new UpdateItemCommand({
            TableName,
            Key: { pk: { S: `spent#${partition}#${account}` }, sk: { S: String(minute) } },
            UpdateExpression: 'ADD spent :one SET expires_at = :expires',
            ConditionExpression: 'attribute_not_exists(spent) OR spent < :most',
            ExpressionAttributeValues: {
              ':one': number(1),
              ':most': number(most),
              ':expires': seconds((minute + 2) * 60_000),
            },
          }),
        ),
      );
    },
  };
}

/** False when the condition of a write was not met. */
async function isMet(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

const number = (value: number): AttributeValue.NMember => ({ N: String(Math.round(value)) });
const seconds = (ms: number) => number(Math.ceil(ms / 1000));

function pack(content: ResponseContent): Uint8Array {
  const bytes =
    content.kind === 'answer' ? content.body : Buffer.from(JSON.stringify(content.refusal ?? null));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

/** Undefined for what is no answer. */
function toAnswer({
  kind,
  content,
  asked_at: asked,
}: Record<string, AttributeValue>): StoredResponse | undefined {
  const askedAt = Number(asked?.N);
  if (!content?.B || !Number.isFinite(askedAt)) return undefined;
  try {
    const bytes = brotliDecompressSync(content.B, { maxOutputLength: mostUnpacked });
    // Copied, because what comes out of decompression holds on to much more memory.
    if (kind?.S === 'answer') return { kind: 'answer', body: new Uint8Array(bytes), askedAt };
    if (kind?.S !== 'refused') return undefined;
    return { kind: 'refused', refusal: JSON.parse(bytes.toString()), askedAt };
  } catch {
    return undefined;
  }
}
