/**
 * Requests to cancel what is open, in DynamoDB, as the function has them that cancels: it needs DeleteItem and Query in
 * their partition of the table of limits and stops.
 */

import type { MassCancel, MassCancelStore } from '../../lib/guard-rails/mass-cancels.ts';
import { withLimit } from './dynamo-client.ts';
import { type Item, isMet, numberOf, queryAll, textOf } from './dynamo-items.ts';
import {
  createDynamoMassCancelRequests,
  type DynamoMassCancelsOptions,
  massCancelKey,
  massCancelPartition,
} from './dynamo-mass-cancel-requests.ts';
import { isConflict } from './dynamo-transaction.ts';

/** @example const store = createDynamoMassCancels({ client, tableName }); await store.open(); */
export function createDynamoMassCancels(options: DynamoMassCancelsOptions): MassCancelStore {
  const { tableName: TableName, timeoutMs = 10_000 } = options;
  const client = withLimit(options.client, { timeoutMs, attempts: 3, alsoPasses: isConflict });
  return {
    ...createDynamoMassCancelRequests({ ...options, timeoutMs }),
    async open() {
      const items = await queryAll(client, {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :partition',
        ExpressionAttributeValues: { ':partition': { S: massCancelPartition } },
      });
      return items.map(toMassCancel);
    },
    async finish({ id, scope }) {
      return isMet(
        client.send('DeleteItem', {
          TableName,
          Key: massCancelKey(scope),
          ConditionExpression: '#id = :id',
          ExpressionAttributeNames: { '#id': 'id' },
          ExpressionAttributeValues: { ':id': { S: id } },
        }),
      );
    },
  };
}

/** @throws TypeError for what is no such request: it must not count as none */
const toMassCancel = (item: Item): MassCancel => ({
  id: textOf(item, 'id'),
  scope: textOf(item, 'sk'),
  at: numberOf(item, 'at'),
  placedBefore: numberOf(item, 'placed_before'),
});
