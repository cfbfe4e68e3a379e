/** Stream of order and position events: an operation of the gateway itself. */

import * as v from 'valibot';
import { gatewaySources } from './decided.ts';
import { describe } from './operation.ts';

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
  sources: gatewaySources,
  decisions: [
    'The gateway’s own operation: it tells what its listener of trade events kept, and sends nothing.',
  ],
});
