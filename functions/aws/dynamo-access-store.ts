/**
 * The directory's store in DynamoDB: one item for each record and each line of the audit, in a table whose key is two
 * texts named `pk` and `sk`, with `expires_at` as its time to live. Items hold keyed names, sealed bytes and times
 * alone. A function needs BatchGetItem on the table; the operator's command besides that PutItem, DeleteItem, Query and
 * Scan.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { AccessEntry, AccessStore, AccessWrite } from '../../lib/access/store.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put, remove } from './dynamo-expressions.ts';
import { batchGet, bytes, codec, inSeconds, optional, text } from './dynamo-items.ts';
import { createSealedRecords } from './dynamo-sealed-records.ts';

export interface DynamoAccessStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /**
   * For one operation with all its attempts, in milliseconds. Default 1000 for the reader: a client waits, and is
   * refused without an answer. Default 10,000 for the store.
   */
  readonly timeoutMs?: number;
}

/** The sort key of a record. */
const recordKey = 'record';
/** The partition of all lines of the audit; their sort keys begin with the time. */
const auditPartition = 'audit';

/** What a function needs of the store. */
export function createDynamoAccessReader({
  client,
  tableName,
  timeoutMs = 1000,
}: DynamoAccessStoreOptions): Pick<AccessStore, 'read'> {
  const limited = withLimit(client, { timeoutMs, attempts: 2 });

  return {
    async read(keys) {
      const items = await batchGet(limited, tableName, [...new Set(keys)].map(keyOf));
      return new Map(items.map(entry.read).map((one) => [one.key, one]));
    },
  };
}

/**
 * For operators.
 *
 * @example const store = createDynamoAccessStore({ client: createDynamoClient(), tableName: 'users' });
 */
export function createDynamoAccessStore(options: DynamoAccessStoreOptions): AccessStore {
  const { tableName: TableName, timeoutMs = 10_000 } = options;
  const all = createSealedRecords({ ...options, timeoutMs, recordKey, linePartition: auditPartition });
  return {
    read: createDynamoAccessReader({ ...options, timeoutMs }).read,
    write: async ({ audit, ...change }) =>
      all.write([recordWrite(TableName, change), { Put: put(TableName, all.lineItem(audit)) }]),
    list: async () => (await all.records()).map(entry.read),
    audit: all.lines,
  };
}

function recordWrite(
  TableName: string,
  { key, expected, next }: Omit<AccessWrite, 'audit'>,
): TransactWriteItem {
  const condition = expected === undefined ? isAbsent : expression`revision = ${expected}`;
  return next
    ? { Put: put(TableName, entry.write({ key, ...next }), condition) }
    : { Delete: remove(TableName, keyOf(key), condition) };
}

const keyOf = (key: string) => ({ pk: key, sk: recordKey });

/** An item that is no record throws: it must not count as none. */
const entry = codec<AccessEntry>(
  {
    key: text('pk'),
    revision: text('revision'),
    sealed: bytes('sealed'),
    expiresAt: optional(inSeconds('expires_at')),
  },
  { sk: recordKey },
);
