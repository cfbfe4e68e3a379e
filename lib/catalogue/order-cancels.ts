/** Cancels of orders: in a separate file, so that the bundle of their function has no other operation. */

import * as v from 'valibot';
import { accountInBody } from './common.ts';
import { notInText } from './decided.ts';
import { onPage, seen } from './notes.ts';
import { describe } from './operation.ts';
import { clientOrderId, compareTheOrder, placed } from './order-schemas.ts';
import { namesOrder } from './outcomes.ts';
import { omittable, text } from './schemas.ts';

export const cancelOrder = describe({
  id: 'cancelOrder',
  group: 'orders',
  title: 'Cancel order',
  method: 'POST',
  path: '/trading/orders/cancel',
  aliases: [
    '/openapi/trade/order/cancel',
    '/openapi/trade/stock/order/cancel',
    '/openapi/trade/option/order/cancel',
  ],
  endpointKind: 'order-change',
  query: {},
  body: v.looseObject({
    account_id: text,
    client_order_id: clientOrderId,
    client_combo_order_id: omittable(v.string()),
  }),
  response: placed,
  accounts: accountInBody,
  sideEffect: {
    findOut: compareTheOrder,
    saysOutcome: namesOrder,
    cancels: true,
    journal: { by: 'idempotency-key', unkeyed: 'recorded', lookUp: 'getOrder' },
  },
  example: {
    body: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S', client_order_id: 'gw-20261020-000002' },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-docs', 'vendor-sdk'],
    response: ['observed', 'vendor-docs', 'vendor-sdk'],
  },
  notes: [
    onPage('Cancelling again changes nothing, but may be refused.'),
    seen(
      'Cancelling an unfilled MASTER cancels its combination: cancelling a part then gives OPENAPI_ORDER_NOT_FOUND. Once the MASTER is filled, its exits are cancelled one by one.',
    ),
  ],
  decisions: [notInText],
});
