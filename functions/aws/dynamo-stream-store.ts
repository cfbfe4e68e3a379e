/** A deployed function's store of streams, in the table of snapshots: one item per caller. It needs GetItem and PutItem. */

import type { StreamStore } from '../../lib/live/stream-shares.ts';
import { type SharedStoreOptions, withLimit } from './dynamo-client.ts';
import { isRevision, put } from './dynamo-expressions.ts';
import { isMet, seconds, toItem } from './dynamo-items.ts';

/** @example const store = createDynamoStreamStore({ client: createDynamoClient(), tableName: 'cache', partition: 'upstream' }); */
export function createDynamoStreamStore(options: SharedStoreOptions): StreamStore {
  const { tableName: TableName, partition, timeoutMs = 300 } = options;
  const client = withLimit(options.client, { timeoutMs });
  const keyOf = (caller: string) => ({ pk: `streams#${partition}#${caller}`, sk: 'streams' });
  return {
    async read(caller) {
      const Key = toItem(keyOf(caller));
      const { Item = {} } = await client.send('GetItem', { TableName, Key, ConsistentRead: true });
      const until = Object.entries(Item.until?.M ?? {}).map(([id, { N }]) => [id, Number(N)] as const);
      return { revision: Number(Item.revision?.N ?? 0), until: new Map(until) };
    },
    async write(caller, { revision, until }) {
      const values = {
        ...keyOf(caller),
        until: { M: toItem(Object.fromEntries(until)) },
        revision,
        // The item expires after the last stream has ended; never in the past, because DynamoDB ignores a time years ago.
        expires_at: seconds(Math.max(Date.now(), ...until.values())),
      };
      return isMet(client.send('PutItem', put(TableName, values, isRevision(revision - 1))));
    },
  };
}
