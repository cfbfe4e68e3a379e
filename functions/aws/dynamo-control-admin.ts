/**
 * The operator's side of what is set of trading, in DynamoDB: it writes an item for each scope, one for each change, and
 * one for each scope in which a stop cancels what is open. The command needs BatchGetItem, PutItem, UpdateItem, Query and
 * Scan on the table.
 */

import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { ControlAdminStore, ControlWrite } from '../../lib/guard-rails/control-admin-store.ts';
import { absent, batchGet, type Item, number } from './dynamo-items.ts';
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
  { expected, next, keepsLimits }: Pick<ControlWrite, 'expected' | 'next' | 'keepsLimits'>,
): TransactWriteItem {
  const { key, version, limits, stopped, sealed } = next;
  const set: Item = {
    version: number(version),
    sealed: { B: sealed },
    ...(!keepsLimits && { limits: { S: JSON.stringify(limits) } }),
    ...(stopped && { stopped_at: number(stopped.at) }),
  };
  const names = Object.keys(set);
  // The version of a scope of which nothing was ever set is 0.
  const isNew = expected === 0;
  return {
    Update: {
      TableName,
      Key: keyOf(key),
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`)}${stopped ? '' : ' REMOVE stopped_at'}`,
      ConditionExpression: isNew ? 'attribute_not_exists(pk)' : '#version = :expected',
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(names.map((name) => [`:${name}`, set[name]!])),
        ...(!isNew && { ':expected': number(expected) }),
      },
    },
  };
}

/** What a stop writes of a scope: not its limits. */
export const stopAttributes = ['pk', 'sk', 'version', 'sealed', 'stopped_at'];
