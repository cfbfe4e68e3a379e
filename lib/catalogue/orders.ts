/** Orders: the group whose requests move money. */

import * as v from 'valibot';
import { accountId, optionStrategy, pageKey } from './common.ts';
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
import { namesOrder, namesOrders } from './outcomes.ts';
import * as parameters from './parameters.ts';
import {
  day,
  decimal,
  decimalText,
  eachOmittable,
  eachOptional,
  integer,
  isoMoment,
  isoMomentOrNone,
  joined,
  momentOrNone,
  nextPage,
  omittable,
  requestedDay,
  text,
} from './schemas.ts';

const side = v.picklist(['BUY', 'SELL', 'SHORT']);
const market = v.picklist(['US']);

/** One leg of an option order. */
const leg = v.pipe(
  v.looseObject({
    side,
    market,
    instrument_type: v.picklist(['EQUITY', 'OPTION']),
    symbol: v.pipe(
      text,
      v.description('Of an option the OCC root, such as SPXW; the underlying, SPX, is refused.'),
    ),
    quantity: omittable(decimalText),
    strike_price: omittable(decimalText),
    option_expire_date: omittable(requestedDay),
    option_type: omittable(v.picklist(['CALL', 'PUT'])),
  }),
  v.title('OrderLeg'),
);

/**
 * Chosen by the caller, unique per account: the guard against placing an order twice. The upstream takes 10 to 40
 * characters. Only ids that getOrder accepts are allowed: with another one, the outcome of an order whose answer was
 * lost could not be found out.
 */
const newClientOrderId = v.pipe(
  v.string(),
  v.minLength(10),
  v.maxLength(40),
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

/** What a new order and a listed order may have in common, besides their prices. */
const terms = {
  expire_date: requestedDay,
  trailing_type: trailingType,
  algo_type: v.picklist(['TWAP', 'VWAP', 'POV']),
  target_vol_percent: v.pipe(v.string(), v.description('POV only: 1 to 20, as text.')),
  max_target_percent: v.pipe(v.string(), v.description('TWAP and VWAP: 1 to 20, as text.')),
  algo_start_time: v.pipe(v.string(), v.description('HH:mm:ss, US Eastern Time.')),
  algo_end_time: v.pipe(v.string(), v.description('HH:mm:ss, US Eastern Time.')),
  position_intent: v.picklist(['BUY_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_OPEN', 'SELL_TO_CLOSE']),
  leg_in_or_out: v.picklist(['LEG_IN', 'LEG_OUT']),
  position_id: v.string(),
  leg_in_strategy: v.picklist([
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
  option_strategy: optionStrategy,
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
    quantity: omittable(decimalText),
    total_cash_amount: omittable(decimalText),
    support_trading_session: omittable(
      v.pipe(tradingSession, v.description('Needed for stock orders, optional for those of options.')),
    ),
    stop_price: omittable(decimalText),
    limit_price: omittable(decimalText),
    trailing_stop_step: omittable(decimalText),
    legs: omittable(v.pipe(v.array(leg), v.description('Of option orders only.'))),
  },
  eachOmittable(terms),
);

type InstrumentType = v.InferInput<typeof instrumentType>;

/** A stock order says in which session it may be executed. */
type SessionGiven =
  | {
      readonly instrument_type: 'EQUITY';
      readonly support_trading_session: v.InferInput<typeof tradingSession>;
    }
  | { readonly instrument_type: Exclude<InstrumentType, 'EQUITY'> };

/**
 * Asks for the session in the type alone: the refusal was seen in a sandbox, and for ordinary orders. A request without
 * one reaches the upstream, which decides.
 */
/* @__NO_SIDE_EFFECTS__ */
const withSession = <S extends v.GenericSchema>(order: S) =>
  order as unknown as v.GenericSchema<v.InferInput<S> & SessionGiven, v.InferOutput<S>>;

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

const client_combo_order_id = omittable(
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
  endpointKind: 'order-change',
  query: {},
  anyQuery: true,
  headers: ['category'],
  body: v.looseObject({
    account_id: text,
    client_combo_order_id,
    new_orders: v.pipe(v.array(withSession(v.looseObject(newOrderMembers))), v.minLength(1)),
  }),
  response: placed,
  sideEffect: { findOut: readTheOrder, saysOutcome: namesOrder },
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
    request: ['observed', 'vendor-docs', 'vendor-sdk'],
    response: ['observed', 'vendor-sdk', 'vendor-docs'],
  },
  decisions: [
    'The interface text’s path is the path, the vendor’s paths are aliases; it shows neither body nor answer, so both are those of the vendor’s current place operation.',
    'The interface text’s example carries query parameters without naming them: any are accepted.',
    'The vendor SDK sends one unsigned header, category, which is forwarded when a client sends it.',
    'A client_order_id of 10 to 40 characters is accepted, as seen live; the pages say at most 32.',
    'support_trading_session is required by the client’s type for stock orders, but the gateway does not refuse an order without it: the refusal was seen in a sandbox only.',
  ],
  notes: [
    seen(
      'client_order_id is the guard against a double order: unique per account, 10 to 40 characters. An accepted order uses it up, a refused one does not; reuse is refused with OPENAPI_TRADE_PLACE_ORDER_REPEAT.',
    ),
    seen('Stock orders need support_trading_session; without it the upstream refuses them with 417.'),
    seen(
      'A DAY order after the regular session is refused with 417 OPENAPI_DAY_ORDER_NOT_ALLOWED_AFT_CORE_TIME_LIMIT; GTC is accepted at any hour.',
    ),
    seen('trailing_type is case-sensitive: AMOUNT or PERCENTAGE.'),
    seen(
      'Options: IOC, FOK, trailing stops and fractional quantities of a leg are refused; the symbol of a leg is the OCC root (SPXW), not the underlying (SPX).',
    ),
    seen(
      'A combination answers combo_order_id and client_combo_order_id only. Its parts are looked up by their own client_order_id; combo_type says which part each is.',
    ),
    onPage(
      'Combinations: a MASTER with at most one STOP_PROFIT and one STOP_LOSS; OTO and OTOCO are a MASTER with one to six more; OCO are two to six.',
    ),
    onPage('OTO, OCO and OTOCO are for EQUITY only; option strategies of several legs take NORMAL only.'),
    onPage('Stock and option orders take DAY and GTC; algorithmic ones take DAY in regular hours only.'),
    onPage('MARKET_ON_OPEN, MARKET_ON_CLOSE and LIMIT_ON_OPEN are for institutional stock orders.'),
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
        withSession(
          v.looseObject(
            joined(newOrderMembers, {
              instrument_type: v.picklist(['EQUITY', 'OPTION', 'FUTURES', 'EVENT']),
              current_ask: omittable(v.pipe(decimalText, v.description('The ask that the user sees.'))),
              current_bid: omittable(v.pipe(decimalText, v.description('The bid that the user sees.'))),
            }),
          ),
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
              option_expire_date: '2029-01-19',
              option_type: 'CALL',
            },
          ],
        },
      ],
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['observed', 'vendor-docs', 'vendor-sdk'],
    response: ['observed', 'vendor-docs', 'vendor-sdk'],
  },
  notes: [
    onPage('Takes no crypto orders. Nothing is placed.'),
    seen('Works at any hour, for DAY orders too. The answer has a currency.'),
  ],
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
  endpointKind: 'order-change',
  query: {},
  body: v.looseObject({
    account_id: text,
    client_combo_order_id: omittable(v.string()),
    modify_orders: v.pipe(
      v.array(
        v.looseObject({
          client_order_id: clientOrderId,
          time_in_force: omittable(timeInForce),
          stop_price: omittable(decimalText),
          limit_price: omittable(decimalText),
          quantity: omittable(decimalText),
          order_type: omittable(orderType),
          trailing_type: omittable(trailingType),
          trailing_stop_step: omittable(decimalText),
          target_vol_percent: omittable(v.string()),
          max_target_percent: omittable(v.string()),
          algo_start_time: omittable(v.string()),
          algo_end_time: omittable(v.string()),
          legs: omittable(v.array(v.looseObject({ id: text, quantity: decimalText }))),
        }),
      ),
      v.minLength(1),
    ),
  }),
  response: placed,
  sideEffect: { findOut: compareTheOrder, saysOutcome: namesOrder },
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
    onPage('An order is addressed by its client_order_id, never by its order_id.'),
    onPage(
      'Concerns what is not filled yet; a filled or cancelled order is refused. Crypto orders cannot be replaced.',
    ),
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
  endpointKind: 'order-change',
  query: {},
  body: v.looseObject({
    account_id: text,
    client_order_id: clientOrderId,
    client_combo_order_id: omittable(v.string()),
  }),
  response: placed,
  sideEffect: { findOut: compareTheOrder, saysOutcome: namesOrder },
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

export const batchPlaceOrders = describe({
  id: 'batchPlaceOrders',
  group: 'orders',
  title: 'Batch place orders',
  method: 'POST',
  path: '/trading/orders/batch-place',
  aliases: ['/openapi/trade/order/batch-place'],
  endpointKind: 'order-change',
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
          quantity: decimalText,
          limit_price: omittable(v.pipe(decimalText, v.description('Needed for LIMIT.'))),
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
    saysOutcome: namesOrders,
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
    request: ['observed', 'vendor-docs', 'vendor-sdk'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  notes: [
    onPage('Stocks only, and not enabled for every client of the upstream.'),
    onPage(
      'Status 200 does not mean that every order was taken: a failed one has error_code and message in place of order_id.',
    ),
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
  eachOptional(terms),
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
  endpointKind: 'order-query',
  query: {
    account_id: accountId,
    client_order_id: parameters.text({
      description: 'The id that the caller chose when the order was placed.',
      // Of an order that another program may have placed: longer than any id that the upstream takes today.
      maxLength: 64,
    }),
  },
  response: v.looseObject(
    joined(groupMembers, { orders: v.array(v.looseObject(joined(shownOrderMembers, charges))) }),
  ),
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
  endpointKind: 'order-query',
  query: { account_id: accountId, pagination_key: pageKey },
  response: orderPage,
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
