/**
 * The directory's store in DynamoDB: one item for each record and each line of the audit, in a table whose key is two
 * texts named `pk` and `sk`, with `expires_at` as its time to live. Items hold keyed names, sealed bytes and times
 * alone. A function needs BatchGetItem on the table; the operator's command besides that PutItem, DeleteItem, Query and
 * Scan.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { AccessEntry, AccessStore, AccessWrite } from '../../lib/access/store.ts';
import { type StoreOptions, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put, remove } from './dynamo-expressions.ts';
import { batchGet, bytesOf, codec, type Item, numberOf, seconds, textOf } from './dynamo-items.ts';
import { createSealedRecords } from './dynamo-sealed-records.ts';

/** The sort key of a record. */
const recordKey = 'record';
/** The partition of all lines of the audit; their sort keys begin with the time. */
const auditPartition = 'audit';

/** Creates the part of the store that a function needs. */
export function createDynamoAccessReader({
  client,
  tableName,
  // A client waits for the answer, and is refused without one.
  timeoutMs = 1000,
}: StoreOptions): Pick<AccessStore, 'read'> {
  const limited = withLimit(client, { timeoutMs, attempts: 2 });

  return {
    async read(keys) {
      const items = await batchGet(limited, tableName, [...new Set(keys)].map(keyOf));
      return new Map(items.map(toEntry).map((one) => [one.key, one]));
    },
  };
}

/**
 * Creates the whole store, for operators.
 *
 * @example const store = createDynamoAccessStore({ client: createDynamoClient(), tableName: 'users' });
 */
export function createDynamoAccessStore(options: StoreOptions): AccessStore {
  const { tableName: TableName, timeoutMs = 10_000 } = options;
  const all = createSealedRecords({ ...options, timeoutMs, recordKey, linePartition: auditPartition });
  return {
    read: createDynamoAccessReader({ ...options, timeoutMs }).read,
    write: async ({ audit, ...change }) =>
      all.write([recordWrite(TableName, change), { Put: put(TableName, all.lineItem(audit)) }]),
    list: async () => (await all.records()).map(toEntry),
    audit: all.lines,
  };
}

function recordWrite(
  TableName: string,
  { key, expected, next }: Omit<AccessWrite, 'audit'>,
): TransactWriteItem {
  const condition = expected === undefined ? isAbsent : expression`revision = ${expected}`;
  if (!next) return { Delete: remove(TableName, keyOf(key), condition) };
  const expires_at = next.expiresAt && seconds(next.expiresAt);
  return { Put: put(TableName, { ...record.write({ key, ...next }), expires_at }, condition) };
}

const keyOf = (key: string) => ({ pk: key, sk: recordKey });

const record = codec<Omit<AccessEntry, 'expiresAt'>>(
  { key: ['pk', textOf], revision: ['revision', textOf], sealed: ['sealed', bytesOf] },
  { sk: recordKey },
);

/** @throws TypeError for a malformed record, which must not count as absent */
const toEntry = (item: Item): AccessEntry => ({
  ...record.read(item),
  ...(item.expires_at && { expiresAt: 1000 * numberOf(item, 'expires_at') }),
});
