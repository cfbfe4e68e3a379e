/**
 * The operator's side of what is set of trading, in DynamoDB: it writes an item for each scope, one for each change, and
 * one for each scope in which a stop cancels what is open. The command needs BatchGetItem, PutItem, Query and Scan on the table.
 */

import {
  QueryCommand,
  ScanCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type {
  ControlAdminStore,
  ControlHistoryEntry,
  ControlWrite,
} from '../../lib/guard-rails/control-admin-store.ts';
import { number } from './dynamo-attributes.ts';
import { batchGet, type Item } from './dynamo-batch-get.ts';
import { withLimit } from './dynamo-client.ts';
import { massCancelItem } from './dynamo-mass-cancel-requests.ts';
import { isOvertaken, pages } from './dynamo-records.ts';
import {
  controlKey,
  createDynamoControls,
  type DynamoControlsOptions,
  keyOf,
  toControlEntry,
} from './dynamo-trading-controls.ts';
import { withStoreErrors } from './store-errors.ts';

/** The partition of the whole history; its sort keys begin with the time. */
export const historyPartition = 'history';

/** @example const store = createDynamoControlAdmin({ client, tableName }); */
export function createDynamoControlAdmin(options: DynamoControlsOptions): ControlAdminStore {
  const { tableName: TableName, timeoutMs = 10_000 } = options;
  const client = withStoreErrors(withLimit(options.client, { timeoutMs, attempts: 3 }));
  return {
    read: createDynamoControls({ ...options, timeoutMs }).read,
    async find(key) {
      const [item] = await batchGet(client, TableName, [keyOf(key)]);
      return item && toControlEntry(item);
    },
    async write(change) {
      // The same token with each attempt: one whose answer was lost is not done twice.
      const command = new TransactWriteItemsCommand({
        TransactItems: transactionOf(TableName, change),
        ClientRequestToken: crypto.randomUUID(),
      });
      try {
        await client.send(command);
        return true;
      } catch (error) {
        if (isOvertaken(error)) return false;
        throw error;
      }
    },
    async list() {
      const items = await pages((ExclusiveStartKey) =>
        client.send(
          new ScanCommand({
            TableName,
            ConsistentRead: true,
            FilterExpression: 'sk = :control',
            ExpressionAttributeValues: { ':control': { S: controlKey } },
            ExclusiveStartKey,
          }),
        ),
      );
      return items.map(toControlEntry);
    },
    async history(limit) {
      const items = await pages(
        (ExclusiveStartKey) =>
          client.send(
            new QueryCommand({
              TableName,
              ConsistentRead: true,
              KeyConditionExpression: 'pk = :history',
              ExpressionAttributeValues: { ':history': { S: historyPartition } },
              ScanIndexForward: false,
              Limit: limit,
              ExclusiveStartKey,
            }),
          ),
        limit,
      );
      return items.map(toHistory);
    },
  };
}

function transactionOf(
  TableName: string,
  { expected, next: { key, version, limits, stopped, sealed }, history, massCancel }: ControlWrite,
): TransactWriteItem[] {
  const Item = {
    ...keyOf(key),
    version: number(version),
    limits: { S: JSON.stringify(limits) },
    ...(stopped && { stopped_at: number(stopped.at) }),
    sealed: { B: sealed },
  };
  const condition =
    expected === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: '#version = :expected',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':expected': number(expected) },
        };
  const record = { pk: { S: historyPartition }, sk: { S: history.id }, sealed: { B: history.sealed } };
  return [
    { Put: { TableName, Item, ...condition } },
    // Nothing is ever written over: the history only grows.
    { Put: { TableName, Item: record, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...(massCancel ? [{ Put: { TableName, Item: massCancelItem(massCancel) } }] : []),
  ];
}

function toHistory({ sk, sealed }: Item): ControlHistoryEntry {
  if (sk?.S === undefined || !sealed?.B) throw new TypeError('not a record of the history');
  return { id: sk.S, sealed: sealed.B };
}
