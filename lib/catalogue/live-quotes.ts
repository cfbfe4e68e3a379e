/** Stream of quotes, in place of polling: an operation of the gateway itself. */

import * as v from 'valibot';
import { gatewaySources } from './decided.ts';
import { getStockSnapshots } from './market-data/snapshots.ts';
import { describe } from './operation.ts';

export const streamStockSnapshots = describe({
  id: 'streamStockSnapshots',
  group: getStockSnapshots.group,
  title: 'Stock snapshots as they change',
  method: 'GET',
  path: '/market-data/stocks/snapshots/stream',
  aliases: [],
  query: getStockSnapshots.query,
  // Limit of the requests that refresh the followed snapshots.
  limit: getStockSnapshots.limit,
  response: v.pipe(
    v.object({ event: v.picklist(['snapshot', 'quotes', 'states', 'beat', 'end']), data: v.string() }),
    v.description('One of the server-sent events; docs/live.md has the members of its data, which is JSON.'),
  ),
  follows: getStockSnapshots,
  example: { query: { symbols: 'AAPL,MSFT', category: 'US_STOCK' } },
  sources: gatewaySources,
  decisions: [
    'The gateway’s own operation: it follows what it refreshes for all callers, and sends nothing by itself.',
  ],
});
