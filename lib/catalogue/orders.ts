/** Orders: the group whose requests move money. */

import * as v from 'valibot';
import { accountId, pageKey } from './common.ts';
import {
  fromVendor,
  momentsAreIntegers,
  notInText,
  olderPath,
  orderStatuses,
  orderTimes,
} from './decided.ts';
import { cursorPaging, describe } from './operation.ts';
import * as parameters from './parameters.ts';
import { day, decimal, integer, isoMoment, joined, moment, nextPage, requestedDay, text } from './schemas.ts';

const side = v.picklist(['BUY', 'SELL', 'SHORT']);
const market = v.picklist(['US']);

/** One leg of an option order. */
const leg = v.pipe(
  v.looseObject({
    side,
    market,
    instrument_type: v.picklist(['EQUITY', 'OPTION']),
    symbol: text,
    quantity: v.optional(decimal),
    strike_price: v.optional(decimal),
    option_expire_date: v.optional(requestedDay),
    option_type: v.optional(v.picklist(['CALL', 'PUT'])),
  }),
  v.title('OrderLeg'),
);

const clientOrderIdLength = 40;

/**
 * Chosen by the caller, unique per account: the guard against placing an order twice. Only ids that getOrder
 * accepts are allowed: with another one, the outcome of an order whose answer was lost could not be found out.
 */
const newClientOrderId = v.pipe(
  v.string(),
  v.minLength(10),
  v.maxLength(clientOrderIdLength),
  v.regex(parameters.plain, 'printable ASCII, no & and no space at an end'),
);

/** Of an existing order, which another program may have placed: any id that the upstream accepted. */
const clientOrderId = text;

const comboType = v.picklist(['NORMAL', 'MASTER', 'STOP_PROFIT', 'STOP_LOSS', 'OTO', 'OCO', 'OTOCO']);
const instrumentType = v.picklist(['EQUITY', 'OPTION', 'FUTURES', 'CRYPTO', 'EVENT']);
const entrustType = v.picklist(['QTY', 'AMOUNT']);
const orderType = v.picklist([
  'MARKET',
  'LIMIT',
  'STOP_LOSS',
  'STOP_LOSS_LIMIT',
  'TRAILING_STOP_LOSS',
  'MARKET_ON_OPEN',
  'MARKET_ON_CLOSE',
  'LIMIT_ON_OPEN',
]);
const timeInForce = v.picklist(['DAY', 'GTC', 'IOC', 'GTD', 'FOK']);
const trailingType = v.picklist(['AMOUNT', 'PERCENTAGE']);
const tradingSession = v.picklist(['ALL', 'CORE', 'NIGHT']);

/** The optional members that a new order and a listed order have in common. */
const orderOptions = {
  support_trading_session: v.optional(tradingSession),
  expire_date: v.optional(requestedDay),
  stop_price: v.optional(decimal),
  limit_price: v.optional(decimal),
  trailing_type: v.optional(trailingType),
  trailing_stop_step: v.optional(decimal),
  algo_type: v.optional(v.picklist(['TWAP', 'VWAP', 'POV'])),
  target_vol_percent: v.optional(v.pipe(v.string(), v.description('POV only: 1 to 20, as text.'))),
  max_target_percent: v.optional(v.pipe(v.string(), v.description('TWAP and VWAP: 1 to 20, as text.'))),
  algo_start_time: v.optional(v.pipe(v.string(), v.description('HH:mm:ss, US Eastern Time.'))),
  algo_end_time: v.optional(v.pipe(v.string(), v.description('HH:mm:ss, US Eastern Time.'))),
  position_intent: v.optional(v.picklist(['BUY_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_OPEN', 'SELL_TO_CLOSE'])),
  leg_in_or_out: v.optional(v.picklist(['LEG_IN', 'LEG_OUT'])),
  position_id: v.optional(v.string()),
  leg_in_strategy: v.optional(
    v.picklist([
      'VERTICAL',
      'CALENDAR',
      'STRANGLE',
      'STRADDLE',
      'IRON_CONDOR',
      'BUTTERFLY',
      'COVERED_STOCK',
      'DIAGONAL',
      'CUSTOM',
    ]),
  ),
  option_strategy: v.optional(
    v.picklist([
      'SINGLE',
      'COVERED_STOCK',
      'STRADDLE',
      'STRANGLE',
      'VERTICAL',
      'CALENDAR',
      'BUTTERFLY',
      'CONDOR',
      'COLLAR_WITH_STOCK',
      'IRON_BUTTERFLY',
      'IRON_CONDOR',
      'DIAGONAL',
    ]),
  ),
};

const newOrderMembers = joined(
  {
    client_order_id: newClientOrderId,
    combo_type: comboType,
    instrument_type: instrumentType,
    entrust_type: entrustType,
    symbol: text,
    market,
    side,
    order_type: orderType,
    time_in_force: timeInForce,
    quantity: v.optional(decimal),
    total_cash_amount: v.optional(decimal),
    legs: v.optional(v.pipe(v.array(leg), v.description('Of option orders only.'))),
  },
  orderOptions,
);

/** What a call that concerns one order, or one combination, answers. */
const placed = v.pipe(
  v.looseObject({
    client_order_id: v.optional(v.string()),
    order_id: v.optional(v.string()),
    client_combo_order_id: v.optional(v.string()),
    combo_order_id: v.optional(v.string()),
  }),
  v.title('PlacedOrder'),
);

const client_combo_order_id = v.optional(
  v.pipe(v.string(), v.description('Groups the parts of a combination; made by the server when absent.')),
);

const readTheOrder =
  'Read getOrder by the same client_order_id. If there is no such order, send it again under the same id only: the upstream takes an id once.';

const compareTheOrder =
  'Read getOrder by the same client_order_id and compare before sending anything again.';

export const placeOrder = describe({
  id: 'placeOrder',
  group: 'orders',
  title: 'Place order',
  method: 'POST',
  path: '/trade/place_order',
  aliases: [
    '/trading/orders/place',
    '/openapi/trade/order/place',
    '/openapi/trade/stock/order/place',
    '/openapi/trade/option/order/place',
  ],
  query: {},
  anyQuery: true,
  headers: ['category'],
  body: v.looseObject({
    account_id: text,
    client_combo_order_id,
    new_orders: v.pipe(v.array(v.looseObject(newOrderMembers)), v.minLength(1)),
  }),
  response: placed,
  sideEffect: { findOut: readTheOrder },
  example: {
    body: {
      account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
      new_orders: [
        {
          client_order_id: 'gw-20261021-000001',
          combo_type: 'NORMAL',
          symbol: 'AAPL',
          instrument_type: 'EQUITY',
          market: 'US',
          side: 'BUY',
          order_type: 'LIMIT',
          limit_price: '228.50',
          quantity: '10',
          entrust_type: 'QTY',
          time_in_force: 'GTC',
          support_trading_session: 'CORE',
        },
      ],
    },
  },
  sources: {
    path: ['interface'],
    request: ['vendor-docs', 'vendor-sdk'],
    response: ['vendor-sdk', 'vendor-docs'],
  },
  decisions: [
    'The interface text’s path is the path, the vendor’s paths are aliases; it shows neither body nor answer, so both are those of the vendor’s current place operation.',
    'The interface text’s example carries query parameters without naming them: any are accepted.',
    'The vendor SDK sends one unsigned header, category, which is forwarded when a client sends it.',
  ],
  notes: [
    'client_order_id is the guard against a double order: unique per account, 10 to 40 printable ASCII characters.',
    'Combinations: a MASTER with at most one STOP_PROFIT and one STOP_LOSS; OTO and OTOCO are a MASTER with one to six more; OCO are two to six.',
    'OTO, OCO and OTOCO are for EQUITY only; option strategies of several legs take NORMAL only.',
    'Stock and option orders take DAY and GTC; algorithmic ones take DAY in regular hours only.',
    'MARKET_ON_OPEN, MARKET_ON_CLOSE and LIMIT_ON_OPEN are for institutional stock orders.',
  ],
});

export const previewOrder = describe({
  id: 'previewOrder',
  group: 'orders',
  title: 'Preview order',
  method: 'POST',
  path: '/trading/orders/preview',
  aliases: [
    '/openapi/trade/order/preview',
    '/openapi/trade/stock/order/preview',
    '/openapi/trade/option/order/preview',
  ],
  query: {},
  body: v.looseObject({
    account_id: text,
    client_combo_order_id,
    new_orders: v.pipe(
      v.array(
        v.looseObject(
          joined(newOrderMembers, {
            instrument_type: v.picklist(['EQUITY', 'OPTION', 'FUTURES', 'EVENT']),
            current_ask: v.optional(v.pipe(decimal, v.description('The ask that the user sees.'))),
            current_bid: v.optional(v.pipe(decimal, v.description('The bid that the user sees.'))),
          }),
        ),
      ),
      v.minLength(1),
    ),
  }),
  response: v.looseObject({
    estimated_cost: v.pipe(
      decimal,
      v.description('What stocks and options cost; of futures the initial margin.'),
    ),
    estimated_transaction_fee: decimal,
    currency: v.optional(v.string()),
  }),
  example: {
    body: {
      account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
      new_orders: [
        {
          client_order_id: 'gw-20261021-000002',
          combo_type: 'NORMAL',
          symbol: 'AAPL',
          instrument_type: 'OPTION',
          market: 'US',
          side: 'BUY',
          order_type: 'LIMIT',
          limit_price: '6.40',
          quantity: '2',
          entrust_type: 'QTY',
          time_in_force: 'DAY',
          option_strategy: 'SINGLE',
          current_ask: '6.45',
          current_bid: '6.35',
          legs: [
            {
              side: 'BUY',
              quantity: '2',
              market: 'US',
              instrument_type: 'OPTION',
              symbol: 'AAPL',
              strike_price: '240',
              option_expire_date: '2027-01-15',
              option_type: 'CALL',
            },
          ],
        },
      ],
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-docs', 'vendor-sdk'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  notes: ['Takes no crypto orders. Nothing is placed.'],
  decisions: [notInText],
});

export const replaceOrder = describe({
  id: 'replaceOrder',
  group: 'orders',
  title: 'Replace order',
  method: 'POST',
  path: '/trading/orders/replace',
  aliases: [
    '/openapi/trade/order/replace',
    '/openapi/trade/stock/order/replace',
    '/openapi/trade/option/order/replace',
  ],
  query: {},
  body: v.looseObject({
    account_id: text,
    client_combo_order_id: v.optional(v.string()),
    modify_orders: v.pipe(
      v.array(
        v.looseObject({
          client_order_id: clientOrderId,
          time_in_force: v.optional(timeInForce),
          stop_price: v.optional(decimal),
          limit_price: v.optional(decimal),
          quantity: v.optional(decimal),
          order_type: v.optional(orderType),
          trailing_type: v.optional(trailingType),
          trailing_stop_step: v.optional(decimal),
          target_vol_percent: v.optional(v.string()),
          max_target_percent: v.optional(v.string()),
          algo_start_time: v.optional(v.string()),
          algo_end_time: v.optional(v.string()),
          legs: v.optional(v.array(v.looseObject({ id: text, quantity: decimal }))),
        }),
      ),
      v.minLength(1),
    ),
  }),
  response: placed,
  sideEffect: { findOut: compareTheOrder },
  example: {
    body: {
      account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
      modify_orders: [{ client_order_id: 'gw-20261020-000001', limit_price: '1.10', quantity: '8' }],
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-docs', 'vendor-sdk'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  notes: [
    'An order is addressed by its client_order_id, never by its order_id.',
    'Concerns what is not filled yet; a filled or cancelled order is refused. Crypto orders cannot be replaced.',
  ],
  decisions: [notInText],
});

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
  query: {},
  body: v.looseObject({
    account_id: text,
    client_order_id: clientOrderId,
    client_combo_order_id: v.optional(v.string()),
  }),
  response: placed,
  sideEffect: { findOut: compareTheOrder },
  example: {
    body: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S', client_order_id: 'gw-20261020-000002' },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-docs', 'vendor-sdk'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  notes: ['Cancelling again changes nothing, but may be refused.'],
  decisions: [notInText],
});

export const batchPlaceOrders = describe({
  id: 'batchPlaceOrders',
  group: 'orders',
  title: 'Batch place orders',
  method: 'POST',
  path: '/trading/orders/batch-place',
  aliases: ['/openapi/trade/order/batch-place'],
  query: {},
  headers: ['category'],
  body: v.looseObject({
    account_id: text,
    batch_orders: v.pipe(
      v.array(
        v.looseObject({
          client_order_id: newClientOrderId,
          combo_type: v.picklist(['NORMAL']),
          instrument_type: v.picklist(['EQUITY']),
          entrust_type: v.picklist(['QTY']),
          support_trading_session: tradingSession,
          symbol: text,
          market,
          side: v.picklist(['BUY', 'SELL']),
          order_type: v.picklist(['MARKET', 'LIMIT']),
          time_in_force: v.picklist(['DAY']),
          quantity: decimal,
          limit_price: v.optional(v.pipe(decimal, v.description('Needed for LIMIT.'))),
        }),
      ),
      v.minLength(1),
      v.maxLength(50),
    ),
  }),
  response: v.looseObject({
    total: integer,
    success: integer,
    failed: integer,
    batch_orders: v.array(
      v.looseObject({
        client_order_id: v.optional(v.string()),
        order_id: v.optional(v.string()),
        error_code: v.optional(v.string()),
        message: v.optional(v.string()),
      }),
    ),
  }),
  sideEffect: {
    findOut:
      'Read getOrder by each client_order_id. Send those that are missing again under the same ids only: the upstream takes an id once.',
  },
  example: {
    body: {
      account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
      batch_orders: [
        {
          client_order_id: 'gw-20261021-b001',
          combo_type: 'NORMAL',
          instrument_type: 'EQUITY',
          entrust_type: 'QTY',
          support_trading_session: 'CORE',
          symbol: 'AAPL',
          market: 'US',
          side: 'BUY',
          order_type: 'LIMIT',
          time_in_force: 'DAY',
          quantity: '3',
          limit_price: '227.00',
        },
        {
          client_order_id: 'gw-20261021-b002',
          combo_type: 'NORMAL',
          instrument_type: 'EQUITY',
          entrust_type: 'QTY',
          support_trading_session: 'CORE',
          symbol: 'MSFT',
          market: 'US',
          side: 'SELL',
          order_type: 'MARKET',
          time_in_force: 'DAY',
          quantity: '1',
        },
      ],
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-docs', 'vendor-sdk'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  notes: [
    'Stocks only, and not enabled for every client of the upstream.',
    'Status 200 does not mean that every order was taken: a failed one has error_code and message in place of order_id.',
  ],
  decisions: [notInText],
});

const shownOrderMembers = joined(
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
    instrument_type: v.optional(instrumentType),
    filled_quantity: v.optional(decimal),
    filled_price: v.nullish(decimal),
    place_time: v.optional(moment),
    filled_time: v.optional(moment),
    filled_time_at: v.optional(isoMoment),
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
  orderOptions,
);

/** What the order has cost; lists leave it out. */
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

/** One order, or those of a combination. */
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
  query: {
    account_id: accountId,
    client_order_id: parameters.text({
      description: 'The id that the caller chose when the order was placed.',
      maxLength: clientOrderIdLength,
    }),
  },
  response: v.looseObject(
    joined(groupMembers, { orders: v.array(v.looseObject(joined(shownOrderMembers, charges))) }),
  ),
  example: {
    query: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S', client_order_id: 'gw-20261020-000003' },
  },
  sources: fromVendor,
  decisions: [
    notInText,
    'The vendor docs call client_order_id a paging cursor on this page; the SDK and the text show that it is the order’s id.',
    momentsAreIntegers,
    orderTimes,
    orderStatuses,
  ],
});

const orderGroup = v.pipe(
  v.looseObject(joined(groupMembers, { orders: v.array(v.looseObject(shownOrderMembers)) })),
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
  query: { account_id: accountId, pagination_key: pageKey },
  response: orderPage,
  paging: cursorPaging,
  example: { query: { account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S' } },
  sources: fromVendor,
  notes: ['May lag behind: the latest state of one order is that of getOrder.'],
  decisions: [notInText, momentsAreIntegers, orderTimes, orderStatuses, olderPath],
});

export const listOrderHistory = describe({
  id: 'listOrderHistory',
  group: 'orders',
  title: 'Order history',
  method: 'GET',
  path: '/trading/orders/historical-orders/list',
  aliases: [],
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
  paging: cursorPaging,
  example: {
    query: {
      account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
      start_time: '2026-10-01T00:00:00.000Z',
      end_time: '2026-10-21T23:59:59.999Z',
    },
  },
  sources: fromVendor,
  notes: [
    'May lag behind: the latest state of one order is that of getOrder.',
    'A combination is never split over two pages. History reaches back to 2018-05-21.',
  ],
  decisions: [notInText, momentsAreIntegers, orderTimes, orderStatuses, olderPath],
});
