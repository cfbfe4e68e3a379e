/** Outcomes of orders that a gateway was asked to place: operations of the gateway itself, which the interface lacks. */

import * as v from 'valibot';
import { accountId, accountInQuery } from './common.ts';
import { gatewaySources } from './decided.ts';
import { describe } from './operation.ts';
import * as parameters from './parameters.ts';

export const getOrderOutcome = describe({
  id: 'getOrderOutcome',
  group: 'orders',
  title: 'Outcome of an order',
  method: 'GET',
  path: '/trading/orders/outcome',
  aliases: [],
  query: {
    account_id: accountId,
    client_order_id: parameters.text({
      description: 'The id that the caller chose when the order was placed.',
      maxLength: 64,
    }),
  },
  response: v.looseObject({
    client_order_id: v.string(),
    state: v.pipe(
      v.picklist(['pending', 'accepted', 'refused', 'unknown', 'not_recorded']),
      v.description(
        'refused: it had no effect, and the id is free. not_recorded: the gateway was not asked to place it.',
      ),
    ),
    begun_at: v.optional(v.string()),
    settled_at: v.optional(v.string()),
    evidence: v.optional(v.picklist(['answer', 'not_sent', 'look_up', 'list', 'absence', 'operator'])),
    order_id: v.optional(v.string()),
    client_combo_order_id: v.optional(v.string()),
    combo_order_id: v.optional(v.string()),
    code: v.optional(v.string()),
    upstream_error_code: v.optional(v.string()),
    request_id: v.optional(v.string()),
  }),
  accounts: accountInQuery,
  answeredBy: 'journal',
  example: { query: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S', client_order_id: 'gw-20261020-000003' } },
  sources: gatewaySources,
  decisions: ['The gateway’s own operation: it answers from its journal of orders, and sends nothing.'],
});
