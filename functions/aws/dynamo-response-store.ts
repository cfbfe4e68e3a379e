/**
 * The response store of a deployed function, in the table of the snapshots. A response and its lease are separate
 * items, because DynamoDB charges a lease by the size of its item. A function needs GetItem, PutItem, UpdateItem and
 * DeleteItem on the table.
 */

import {
  maxStoredBytes,
  minuteOf,
  type ResponseContent,
  type ResponseStore,
  type StoredResponse,
} from '../../lib/cache/responses/index.ts';
import { compress, decompress } from './brotli.ts';
import { type SharedStoreOptions, withLimit } from './dynamo-client.ts';
import { type Expression, expression, put, remove, update } from './dynamo-expressions.ts';
import { type Item, isMet, seconds, toItem } from './dynamo-items.ts';

/** Patterns of the store's partitions, apart from snapshots, from which other functions read prices. `*` stands for any text. */
export const responsePartitions = ['answers#*', 'spent#*'];

const maxUnpackedBytes = 16 * 1024 * 1024;

/** @example const store = createDynamoResponseStore({ client: createDynamoClient(), tableName: 'cache', partition: 'upstream' }); */
export function createDynamoResponseStore(options: SharedStoreOptions): ResponseStore {
  // A client is waiting.
  const { tableName: TableName, partition, timeoutMs = 300 } = options;
  const client = withLimit(options.client, { timeoutMs });
  const keyOf = (key: string, item: 'answer' | 'lease') => ({
    pk: `answers#${partition}#${key}`,
    sk: item,
  });
  const leaseOf = (key: string, until: number, condition?: Expression) => {
    const values = { ...keyOf(key, 'lease'), lease_until: until, expires_at: seconds(until) };
    return put(TableName, values, condition);
  };
  return {
    async read(key, consistency) {
      const Key = toItem(keyOf(key, 'answer'));
      const isConsistent = consistency && { ConsistentRead: true };
      const { Item } = await client.send('GetItem', { TableName, Key, ...isConsistent });
      return Item && toResponse(Item);
    },
    async lease(key, now, until) {
      const isFree = expression`attribute_not_exists(lease_until) OR lease_until <= ${now}`;
      return isMet(client.send('PutItem', leaseOf(key, until, isFree)));
    },
    async release(key, at) {
      await client.send('PutItem', leaseOf(key, at));
    },
    async write(key, { askedAt, ...content }, expiresAt) {
      const packed = pack(content);
      const values = {
        ...keyOf(key, 'answer'),
        kind: content.kind,
        content: packed,
        asked_at: askedAt,
        expires_at: seconds(expiresAt),
      };
      try {
        if (packed.length <= maxStoredBytes) await client.send('PutItem', put(TableName, values));
      } finally {
        // The next request finds the response; without one, or when it is stale, that request may fetch.
        await client.send('DeleteItem', remove(TableName, keyOf(key, 'lease')));
      }
    },
    async countUse(account, now, max) {
      const minute = minuteOf(now);
      const use = update(
        TableName,
        { pk: `spent#${partition}#${account}`, sk: String(minute) },
        expression`ADD spent ${1} SET expires_at = ${seconds((minute + 2) * 60_000)}`,
        expression`attribute_not_exists(spent) OR spent < ${max}`,
      );
      return isMet(client.send('UpdateItem', use));
    },
  };
}

function pack(content: ResponseContent): Uint8Array {
  const bytes =
    content.kind === 'answer' ? content.body : Buffer.from(JSON.stringify(content.refusal ?? null));
  return compress(bytes);
}

/** Reads the item's response; undefined when it contains none. */
function toResponse({ kind, content, asked_at: asked }: Item): StoredResponse | undefined {
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
