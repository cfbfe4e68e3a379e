/** What a gateway tells as it comes, in place of being asked again and again: its own operations. */

import * as v from 'valibot';
import { ofGateway } from './decided.ts';
import { getStockSnapshots } from './market-data/snapshots.ts';
import { describe, type Operation } from './operation.ts';

export const streamStockSnapshots = describe({
  id: 'streamStockSnapshots',
  group: getStockSnapshots.group,
  title: 'Stock snapshots as they change',
  method: 'GET',
  path: '/market-data/stocks/snapshots/stream',
  aliases: [],
  query: getStockSnapshots.query,
  // Of the refreshes of what it follows.
  limit: getStockSnapshots.limit,
  response: v.pipe(
    v.object({ event: v.picklist(['snapshot', 'quotes', 'states', 'beat', 'end']), data: v.string() }),
    v.description('One of the server-sent events; docs/live.md has the members of its data, which is JSON.'),
  ),
  follows: getStockSnapshots,
  example: { query: { symbols: 'AAPL,MSFT', category: 'US_STOCK' } },
  sources: ofGateway,
  decisions: [
    'The gateway’s own operation: it follows what it refreshes for all callers, and sends nothing by itself.',
  ],
});

export const streamOrderEvents = describe({
  id: 'streamOrderEvents',
  group: 'orders',
  title: 'Order and position events as they come',
  method: 'GET',
  path: '/trading/events/stream',
  aliases: [],
  query: {},
  headers: ['last-event-id'],
  response: v.pipe(
    v.object({
      id: v.optional(v.string()),
      event: v.picklist(['start', 'change', 'beat', 'end']),
      data: v.string(),
    }),
    v.description('One of the server-sent events; docs/live.md has the members of its data, which is JSON.'),
  ),
  accounts: { records: { list: '', by: 'account_id' } },
  answeredBy: 'trade events',
  example: {},
  sources: ofGateway,
  decisions: [
    'The gateway’s own operation: it tells what its listener of trade events kept, and sends nothing.',
  ],
});

/** All of them. They are no part of `operations`: only a gateway that can hold an answer open offers them. */
export const liveOperations: readonly Operation[] = [streamStockSnapshots, streamOrderEvents];
