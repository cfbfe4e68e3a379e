/**
 * Checkpoints in DynamoDB: an item of the same key in each of the tables, with the layout of a counter. All of them are
 * read by one BatchGetItem, and written by one transaction. The settlement needs BatchGetItem and PutItem on the items; a
 * function that places orders has BatchGetItem on the tables anyway.
 */

import {
  type CheckpointStore,
  type CheckpointTable,
  readCheckpoint,
  type StoredCheckpoints,
  type TableNames,
} from '../../lib/guard-rails/checkpoints.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put } from './dynamo-expressions.ts';
import { batchGetOf, type Item, isMet, textOf } from './dynamo-items.ts';
import { isOvertaken, transact } from './dynamo-transaction.ts';

/** Key of the item, and its sort key where a table has one. */
export const checkpointPartition = 'checkpoint';

const checkpointKey = (table: CheckpointTable) => ({
  pk: checkpointPartition,
  sk: table === 'journal' ? undefined : checkpointPartition,
});

/** Keys of the checkpoint items by table name. */
export const checkpointKeys = (names: TableNames) =>
  Object.fromEntries(tablesOf(names).map(([table, name]) => [name, [checkpointKey(table)]]));

const isCheckpoint = ({ pk }: Item): boolean => pk?.S === checkpointPartition;

/** @param items the items that were read, by table name */
export const checkpointsIn = (
  names: TableNames,
  items: Readonly<Record<string, readonly Item[]>>,
): StoredCheckpoints =>
  new Map(
    tablesOf(names).flatMap(([table, name]) =>
      (items[name] ?? []).filter(isCheckpoint).map((item) => [table, textOf(item, 'state')] as const),
    ),
  );

const tablesOf = (names: TableNames) => Object.entries(names) as (readonly [CheckpointTable, string])[];

/** @example const checkpoints = createDynamoCheckpoints({ client, tables: { journal: 'orders' } }); */
export function createDynamoCheckpoints({
  client,
  tables,
}: {
  readonly client: DynamoSender;
  readonly tables: TableNames;
}): CheckpointStore {
  const limited = withLimit(client, { timeoutMs: 5000, attempts: 4 });
  return {
    async read() {
      return checkpointsIn(tables, await batchGetOf(limited, checkpointKeys(tables)));
    },
    async write(next, written, read) {
      const puts = written.map((table) => {
        const before = read.get(table);
        const values = { ...checkpointKey(table), revision: readCheckpoint(next).number, state: next };
        const asRead = before === undefined ? isAbsent : expression`#state = ${before}`;
        return { Put: put(tables[table]!, values, asRead) };
      });
      return isMet(transact(limited, puts), isOvertaken);
    },
  };
}
