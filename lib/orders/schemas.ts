/** The contract of events about orders: the `detail` on the bus. Open, because later versions may add members. */

import * as v from 'valibot';
import { described, moment } from '../catalogue/described.ts';
import { text } from '../catalogue/schemas.ts';

export const orderSettled = v.looseObject({
  event_id: described(text, 'The same each time this event comes.'),
  account: v.optional(
    described(text, 'A keyed hash of the account: the same for all its events, for rules and logs.'),
  ),
  account_id: v.optional(described(text, 'The account, in clear.')),
  client_order_id: v.optional(described(text, 'Of the order that was placed, changed or cancelled.')),
  order_id: v.optional(described(v.string(), 'The upstream’s id of the order, where it is known.')),
  operation: described(text, 'What was asked for: the operation’s id, such as placeOrder.'),
  state: described(
    v.picklist(['accepted', 'refused']),
    'Accepted: the upstream has executed the request. Refused: the request had no effect.',
  ),
  evidence: v.optional(
    described(
      v.string(),
      'How it is known: event, list (of open orders), look_up, absence (look-ups found nothing for long enough), operator (one said so), answer, or a later one.',
    ),
  ),
  code: v.optional(described(v.string(), 'The gateway’s code, of what was refused.')),
  upstream_code: v.optional(described(v.string(), 'The upstream’s code, of what was refused.')),
  request_id: described(text, 'Of the request that asked for it.'),
  user: v.optional(described(text, 'Whom the request came from: the keyed name that the log has.')),
  app: v.optional(described(text, 'Through which app: the keyed name that the log has.')),
  begun_at: described(moment, 'When the request’s entry was written, before it was sent.'),
  settled_at: described(moment, 'When it was known what became of it.'),
});

export const orderEventSchemas = { OrderSettled: orderSettled } as const;
