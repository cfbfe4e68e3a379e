/**
 * The operator's side of what is set of trading, in DynamoDB: it writes an item for each scope, one for each change, and
 * one for each scope in which a stop cancels what is open. The command needs BatchGetItem, PutItem, Query and Scan on the table.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { ControlAdminStore, ControlWrite } from '../../lib/guard-rails/control-admin-store.ts';
import { batchGet, number } from './dynamo-items.ts';
import { massCancelItem } from './dynamo-mass-cancel-requests.ts';
import { absent, createSealedRecords, unchangedSince } from './dynamo-sealed-records.ts';
import {
  controlKey,
  createDynamoControls,
  type DynamoControlsOptions,
  keyOf,
  toControlEntry,
} from './dynamo-trading-controls.ts';

/** The partition of the whole history; its sort keys begin with the time. */
export const historyPartition = 'history';

/** @example const store = createDynamoControlAdmin({ client, tableName }); */
export function createDynamoControlAdmin(options: DynamoControlsOptions): ControlAdminStore {
  const { tableName: TableName, timeoutMs = 10_000 } = options;
  const all = createSealedRecords({
    ...options,
    timeoutMs,
    recordKey: controlKey,
    linePartition: historyPartition,
  });
  return {
    read: createDynamoControls({ ...options, timeoutMs }).read,
    async find(key) {
      const [item] = await batchGet(all.client, TableName, [keyOf(key)]);
      return item && toControlEntry(item);
    },
    write: async ({ history, massCancel, ...change }) =>
      all.write([
        recordWrite(TableName, change),
        // Nothing is ever written over: the history only grows.
        { Put: { TableName, Item: { ...all.lineItem(history) }, ...absent } },
        ...(massCancel ? [{ Put: { TableName, Item: massCancelItem(massCancel) } }] : []),
      ]),
    list: async () => (await all.records()).map(toControlEntry),
    history: all.lines,
  };
}

function recordWrite(
  TableName: string,
  { expected, next: { key, version, limits, stopped, sealed } }: Pick<ControlWrite, 'expected' | 'next'>,
): TransactWriteItem {
  const Item = {
    ...keyOf(key),
    version: number(version),
    limits: { S: JSON.stringify(limits) },
    ...(stopped && { stopped_at: number(stopped.at) }),
    sealed: { B: sealed },
  };
  // The version of a scope of which nothing was ever set is 0.
  const condition = unchangedSince('version', expected === 0 ? undefined : number(expected));
  return { Put: { TableName, Item, ...condition } };
}
