/**
 * The operator's side of the trading controls in DynamoDB: it writes an item for each scope, one for each change, and one
 * for each scope whose open orders a stop cancels. The command needs BatchGetItem, PutItem, UpdateItem, Query and
 * Scan on the table.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { ControlAdminStore, ControlWrite } from '../../lib/guard-rails/control-admin-store.ts';
import { expression, isAbsent, put, set, update } from './dynamo-expressions.ts';
import { batchGet } from './dynamo-items.ts';
import { massCancelItem } from './dynamo-mass-cancel-requests.ts';
import { createSealedRecords } from './dynamo-sealed-records.ts';
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
        // The history only grows: no line is ever overwritten.
        { Put: put(TableName, all.lineItem(history), isAbsent) },
        ...(massCancel ? [{ Put: put(TableName, massCancelItem.write(massCancel)) }] : []),
      ]),
    list: async () => (await all.records()).map(toControlEntry),
    history: all.lines,
  };
}

function recordWrite(
  TableName: string,
  { expected, next, keepsLimits }: Pick<ControlWrite, 'expected' | 'next' | 'keepsLimits'>,
): TransactWriteItem {
  const { key, version, limits, stopped, sealed } = next;
  const change = set({
    version,
    sealed,
    limits: keepsLimits ? undefined : JSON.stringify(limits),
    stopped_at: stopped?.at,
  });
  return {
    Update: update(
      TableName,
      keyOf(key),
      stopped ? change : expression`${change} REMOVE stopped_at`,
      // The version of a scope of which nothing was ever set is 0.
      expected === 0 ? isAbsent : expression`#version = ${expected}`,
    ),
  };
}

/** Attributes of a scope that a stop writes; limits are not among them. */
export const stopAttributes = ['pk', 'sk', 'version', 'sealed', 'stopped_at'];
