/** Reads of orders: in a separate file, so that the bundle of their function has no other operation. */

import * as v from 'valibot';
import { accountId, accountInQuery, pageKey } from './common.ts';
import {
  answerSeen,
  fromVendor,
  momentsAreIntegers,
  notInText,
  olderPath,
  orderStatuses,
  orderTimes,
} from './decided.ts';
import { accountState, onlyUnderWay } from './freshness.ts';
import { onPage, seen } from './notes.ts';
import { cursorPaging, describe } from './operation.ts';
import {
  comboType,
  entrustType,
  instrumentType,
  orderTerms,
  orderType,
  side,
  timeInForce,
  tradingSession,
} from './order-schemas.ts';
import * as parameters from './parameters.ts';
import {
  day,
  decimal,
  eachOptional,
  isoMoment,
  isoMomentOrNone,
  joinMembers,
  momentOrNone,
  nextPage,
} from './schemas.ts';

const shownOrderMembers = joinMembers(
  {
    client_order_id: v.string(),
    order_id: v.string(),
    symbol: v.string(),
    side,
    status: v.picklist(['PENDING', 'SUBMITTED', 'CANCELLED', 'FILLED', 'FAILED', 'PARTIAL_FILLED']),
    order_type: orderType,
    entrust_type: entrustType,
    time_in_force: timeInForce,
    total_quantity: decimal,
    place_time_at: isoMoment,
    combo_type: v.optional(comboType),
    instrument_type: v.optional(instrumentType),
    filled_quantity: v.optional(decimal),
    filled_price: v.optional(decimal),
    support_trading_session: v.optional(tradingSession),
    stop_price: v.optional(decimal),
    limit_price: v.optional(decimal),
    trailing_stop_step: v.optional(decimal),
    place_time: v.optional(momentOrNone),
    filled_time: v.optional(momentOrNone),
    filled_time_at: v.optional(isoMomentOrNone),
    legs: v.optional(
      v.array(
        v.looseObject({
          id: v.string(),
          symbol: v.string(),
          side,
          quantity: decimal,
          option_type: v.optional(v.picklist(['CALL', 'PUT'])),
          option_category: v.optional(v.picklist(['AMERICAN', 'EUROPEAN'])),
          strike_price: v.optional(decimal),
          option_contract_multiplier: v.optional(decimal),
          option_contract_deliverable: v.optional(decimal),
          option_expire_date: v.optional(day),
          market: v.optional(v.string()),
          instrument_type: v.optional(v.string()),
          expiration_type: v.optional(v.string()),
        }),
      ),
    ),
  },
  eachOptional(orderTerms),
);

/** Costs of an order; lists leave them out. */
const charges = {
  commission: v.optional(
    v.looseObject({
      actual_commission: v.optional(decimal),
      receivable_commission: v.optional(decimal),
    }),
  ),
  fees: v.optional(
    v.array(
      v.looseObject({
        type: v.optional(v.string()),
        actual_value: v.optional(decimal),
        receivable_value: v.optional(decimal),
      }),
    ),
  ),
};

/** Members of one order, or of the orders of a combination. */
const groupMembers = {
  combo_type: comboType,
  client_order_id: v.optional(v.string()),
  combo_order_id: v.optional(v.string()),
  client_combo_order_id: v.optional(v.string()),
};

export const getOrder = describe({
  id: 'getOrder',
  group: 'orders',
  title: 'Order detail',
  method: 'GET',
  path: '/trading/orders/get',
  aliases: ['/openapi/trade/order/detail'],
  endpointKind: 'order-query',
  query: {
    account_id: accountId,
    client_order_id: parameters.text({
      description: 'The id that the caller chose when the order was placed.',
      // Another program may have placed the order. No id that the upstream accepts today is this long.
      maxLength: 64,
    }),
  },
  response: v.looseObject(
    joinMembers(groupMembers, { orders: v.array(v.looseObject(joinMembers(shownOrderMembers, charges))) }),
  ),
  accounts: accountInQuery,
  freshness: onlyUnderWay,
  example: {
    query: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S', client_order_id: 'gw-20261020-000003' },
  },
  sources: answerSeen,
  decisions: [
    notInText,
    'The vendor docs call client_order_id a paging cursor on this page; the SDK and the text show that it is the order’s id.',
    momentsAreIntegers,
    orderTimes,
    orderStatuses,
  ],
});

const orderGroup = v.pipe(
  v.looseObject(joinMembers(groupMembers, { orders: v.array(v.looseObject(shownOrderMembers)) })),
  v.title('OrderGroup'),
);

const orderPage = v.pipe(
  v.looseObject({ data: v.optional(v.array(orderGroup)), pagination_key: nextPage }),
  v.title('OrderPage'),
);

export const listOpenOrders = describe({
  id: 'listOpenOrders',
  group: 'orders',
  title: 'Open orders',
  method: 'GET',
  path: '/trading/orders/open-orders/list',
  aliases: [],
  endpointKind: 'order-query',
  query: { account_id: accountId, pagination_key: pageKey },
  response: orderPage,
  accounts: accountInQuery,
  paging: cursorPaging,
  freshness: accountState,
  example: { query: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S' } },
  sources: fromVendor,
  notes: [onPage('May lag behind: the latest state of one order is that of getOrder.')],
  decisions: [notInText, momentsAreIntegers, orderTimes, orderStatuses, olderPath],
});

export const listOrderHistory = describe({
  id: 'listOrderHistory',
  group: 'orders',
  title: 'Order history',
  method: 'GET',
  path: '/trading/orders/historical-orders/list',
  aliases: [],
  endpointKind: 'order-query',
  query: {
    account_id: accountId,
    start_time: parameters.optional(
      parameters.instant({
        description: 'Start of the period; the last 7 days when both bounds are absent.',
      }),
    ),
    end_time: parameters.optional(parameters.instant({ description: 'End of the period.' })),
    pagination_key: pageKey,
  },
  response: orderPage,
  accounts: accountInQuery,
  paging: cursorPaging,
  freshness: accountState,
  example: {
    query: {
      account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
      start_time: '2026-10-01T00:00:00.000Z',
      end_time: '2026-10-21T23:59:59.999Z',
    },
  },
  sources: answerSeen,
  notes: [
    seen(
      'Lags behind: right after a cancel getOrder says CANCELLED and this list PENDING. A look-up by id is the truth, a list is not.',
    ),
    onPage('A combination is never split over two pages. History reaches back to 2018-05-21.'),
  ],
  decisions: [notInText, momentsAreIntegers, orderTimes, orderStatuses, olderPath],
});
