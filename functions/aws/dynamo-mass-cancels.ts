/**
 * Requests for mass cancels in DynamoDB, for the function that carries them out. It needs DeleteItem and Query in their
 * partition of the table of limits and stops.
 */

import type { MassCancelStore } from '../../lib/guard-rails/mass-cancels.ts';
import { type StoreOptions, withLimit } from './dynamo-client.ts';
import { expression, query, remove } from './dynamo-expressions.ts';
import { isMet, queryAll } from './dynamo-items.ts';
import {
  createDynamoMassCancelRequests,
  massCancelItem,
  massCancelKey,
  massCancelPartition,
} from './dynamo-mass-cancel-requests.ts';
import { isConflict } from './dynamo-transaction.ts';

/** @example const store = createDynamoMassCancels({ client, tableName }); await store.open(); */
export function createDynamoMassCancels(options: StoreOptions): MassCancelStore {
  const { tableName: TableName, timeoutMs = 10_000 } = options;
  const client = withLimit(options.client, { timeoutMs, attempts: 3, alsoPasses: isConflict });
  return {
    ...createDynamoMassCancelRequests({ ...options, timeoutMs }),
    async open() {
      const all = query(TableName, expression`pk = ${massCancelPartition}`, { ConsistentRead: true });
      return (await queryAll(client, all)).map(massCancelItem.read);
    },
    async finish({ id, scope }) {
      const own = remove(TableName, massCancelKey(scope), expression`#id = ${id}`);
      return isMet(client.send('DeleteItem', own));
    },
  };
}
