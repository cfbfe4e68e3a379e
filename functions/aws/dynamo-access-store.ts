/**
 * The directory's store in DynamoDB: one item for each record and each line of the audit, in a table whose key is two
 * texts named `pk` and `sk`, with `expires_at` as its time to live. Items hold keyed names, sealed bytes and times
 * alone. A function needs BatchGetItem on the table; the operator's command besides that PutItem, DeleteItem, Query and
 * Scan.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { AccessEntry, AccessStore, AccessWrite } from '../../lib/access/store.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { batchGet, bytesOf, type Item, numberOf, seconds, textOf } from './dynamo-items.ts';
import { createSealedRecords, unchangedSince } from './dynamo-sealed-records.ts';

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
      const wanted = [...new Set(keys)].map((key) => ({ pk: { S: key }, sk: { S: recordKey } }));
      const entries = (await batchGet(limited, tableName, wanted)).map(toEntry);
      return new Map(entries.map((entry) => [entry.key, entry]));
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
      all.write([recordWrite(TableName, change), { Put: { TableName, Item: { ...all.lineItem(audit) } } }]),
    list: async () => (await all.records()).map(toEntry),
    audit: all.lines,
  };
}

function recordWrite(
  TableName: string,
  { key, expected, next }: Omit<AccessWrite, 'audit'>,
): TransactWriteItem {
  const Key = { pk: { S: key }, sk: { S: recordKey } };
  const condition = unchangedSince('revision', expected === undefined ? undefined : { S: expected });
  return next
    ? { Put: { TableName, Item: { ...Key, ...attributesOf(next) }, ...condition } }
    : { Delete: { TableName, Key, ...condition } };
}

const attributesOf = ({ revision, sealed, expiresAt }: NonNullable<AccessWrite['next']>) => ({
  revision: { S: revision },
  sealed: { B: sealed },
  ...(expiresAt !== undefined && { expires_at: seconds(expiresAt) }),
});

/** @throws TypeError for what is no record: it must not count as none */
function toEntry(item: Item): AccessEntry {
  return {
    key: textOf(item, 'pk'),
    revision: textOf(item, 'revision'),
    sealed: bytesOf(item, 'sealed'),
    ...(item.expires_at && { expiresAt: 1000 * numberOf(item, 'expires_at') }),
  };
}
