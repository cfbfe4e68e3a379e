/**
 * Writes requests for mass cancels to DynamoDB: an item for each scope, in one partition of the table of limits and stops.
 * A function that requests cancels needs PutItem in that partition. Reading them is in `dynamo-mass-cancels.ts`, so that no
 * function that places orders has it in its bundle.
 */

import type { MassCancel, MassCancelStore } from '../../lib/guard-rails/mass-cancels.ts';
import { type StoreOptions, withLimit } from './dynamo-client.ts';
import { expression, put } from './dynamo-expressions.ts';
import { codec, isMet, numberOf, textOf } from './dynamo-items.ts';
import { isConflict } from './dynamo-transaction.ts';

/** Partition of all requests: few are open at a time, and one query reads them. */
export const massCancelPartition = 'mass-cancel';

/** Key of a scope's request; a scope has at most one, which a later one replaces. */
export const massCancelKey = (scope: string) => ({ pk: massCancelPartition, sk: scope });

/** Codec of a request; a malformed item throws, because it must not count as absent. */
export const massCancelItem = codec<MassCancel>(
  {
    id: ['id', textOf],
    scope: ['sk', textOf],
    at: ['at', numberOf],
    placedBefore: ['placed_before', numberOf],
  },
  { pk: massCancelPartition },
);

/** @example const massCancels = createDynamoMassCancelRequests({ client, tableName }); */
export function createDynamoMassCancelRequests({
  client,
  tableName: TableName,
  // The refusal of an order waits for it.
  timeoutMs = 1000,
}: StoreOptions): Pick<MassCancelStore, 'request'> {
  const limited = withLimit(client, { timeoutMs, attempts: 2, alsoPasses: isConflict });
  return {
    async request(massCancel) {
      const isLatest = expression`attribute_not_exists(pk) OR placed_before <= ${massCancel.placedBefore}`;
      // If the condition is not met, there is a request that cancels all that this one would.
      await isMet(limited.send('PutItem', put(TableName, massCancelItem.write(massCancel), isLatest)));
    },
  };
}
