/**
 * The trade events of the last day in DynamoDB, for streams: an item for each name of an event, in a table whose key is two
 * texts named `pk`, the name, and `sk`, the event's place, with `expires_at` as its time to live. Contents of events are
 * sealed.
 *
 * The listener needs PutItem and Query on the table; the function that streams events needs Query.
 */

import { keptMs, type PlacedEvent, type TradeEventHistory } from '../../lib/trade-events/history.ts';
import { openText, sealText } from './brotli.ts';
import { type SealedStoreOptions, withLimit } from './dynamo-client.ts';
import { expression, put, query } from './dynamo-expressions.ts';
import { type Item, queryAll, seconds, textOf } from './dynamo-items.ts';

interface EventHistoryOptions extends SealedStoreOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** @example const history = createDynamoEventHistory({ client: createDynamoClient(), tableName: 'history', sealer }); */
export function createDynamoEventHistory({
  client,
  tableName: TableName,
  sealer,
  timeoutMs = 2000,
  clock = Date.now,
}: EventHistoryOptions): TradeEventHistory {
  const limited = withLimit(client, { timeoutMs, attempts: 3 });

  async function append(name: string, { place, detailType, detail }: PlacedEvent): Promise<void> {
    const sealed = await sealText(sealer, detail, about(name, place));
    const expires_at = seconds(clock() + keptMs);
    const values = { pk: name, sk: place, detail_type: detailType, sealed, expires_at };
    await limited.send('PutItem', put(TableName, values));
  }
  async function eventIn(name: string, item: Item): Promise<PlacedEvent> {
    const place = textOf(item, 'sk');
    const detail = await openText(sealer, item.sealed?.B, about(name, place));
    if (detail === undefined) throw new Error('an item of trade events does not open');
    return { place, detailType: textOf(item, 'detail_type'), detail };
  }

  return {
    async append(names, event) {
      await Promise.all(names.map((name) => append(name, event)));
    },
    async after(name, place, limit) {
      const later = query(TableName, expression`pk = ${name} AND sk > ${place}`, { Limit: limit });
      const items = await queryAll(limited, later);
      return Promise.all(items.map((item) => eventIn(name, item)));
    },
    async last(name) {
      const newest = { ConsistentRead: true, ScanIndexForward: false, ProjectionExpression: 'sk', Limit: 1 };
      const [item] = await queryAll(limited, query(TableName, expression`pk = ${name}`, newest), 1);
      return item && textOf(item, 'sk');
    },
  };
}

/** Binds sealed contents to their place, so that they do not open in another one. */
const about = (name: string, place: string) => `trade event history ${name} ${place}`;
