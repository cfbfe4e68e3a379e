/** The store of streams of a deployed function, in the table of snapshots: one item a caller. It needs GetItem and PutItem. */

import type { StreamStore } from '../../lib/live/stream-shares.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { isMet, number, seconds } from './dynamo-items.ts';

export interface DynamoStreamStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** Names the upstream. */
  readonly partition: string;
  /** For one operation, in milliseconds. Default 300. */
  readonly timeoutMs?: number;
}

/** @example const store = createDynamoStreamStore({ client: createDynamoClient(), tableName: 'cache', partition: 'upstream' }); */
export function createDynamoStreamStore(options: DynamoStreamStoreOptions): StreamStore {
  const { tableName: TableName, partition, timeoutMs = 300 } = options;
  const client = withLimit(options.client, { timeoutMs });
  const keyOf = (caller: string) => ({ pk: { S: `streams#${partition}#${caller}` }, sk: { S: 'streams' } });
  return {
    async read(caller) {
      const { Item = {} } = await client.send('GetItem', {
        TableName,
        Key: keyOf(caller),
        ConsistentRead: true,
      });
      const until = Object.entries(Item.until?.M ?? {}).map(([id, { N }]) => [id, Number(N)] as const);
      return { revision: Number(Item.revision?.N ?? 0), until: new Map(until) };
    },
    async write(caller, { revision, until }) {
      return isMet(
        client.send('PutItem', {
          TableName,
          Item: {
            ...keyOf(caller),
            until: { M: Object.fromEntries([...until].map(([id, end]) => [id, number(end)])) },
            revision: number(revision),
            // DynamoDB removes it some time after the last of them has ended, and never by a time of years ago.
            expires_at: seconds(Math.max(Date.now(), ...until.values())),
          },
          ConditionExpression: 'attribute_not_exists(pk) OR revision = :before',
          ExpressionAttributeValues: { ':before': number(revision - 1) },
        }),
      );
    },
  };
}
