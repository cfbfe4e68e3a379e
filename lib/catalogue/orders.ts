/** Operations that place, change and preview orders. These requests move money. */

import * as v from 'valibot';
import { accountInBody } from './common.ts';
import { notInText } from './decided.ts';
import { inferred, inSdk, onPage, seen } from './notes.ts';
import { describe } from './operation.ts';
import {
  clientOrderId,
  comboType,
  compareTheOrder,
  entrustType,
  extendedHours,
  instrumentType,
  market,
  maxTarget,
  orderTerms,
  orderType,
  placed,
  side,
  targetVolume,
  timeInForce,
  tradingSession,
  trailingType,
} from './order-schemas.ts';
import { namesOrder, namesOrders } from './outcomes.ts';
import * as parameters from './parameters.ts';
import {
  decimal,
  decimalText,
  eachOmittable,
  integer,
  joinMembers,
  omittable,
  requestedDay,
  text,
} from './schemas.ts';

const leg = v.pipe(
  v.looseObject({
    side,
    market: omittable(market),
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
 * Id that the caller chooses, unique in the account: the guard against placing an order twice. The upstream accepts 10 to
 * 40 characters. Only ids that getOrder accepts are allowed: otherwise a caller could not find out the outcome of an order
 * whose answer was lost.
 */
const newClientOrderId = v.pipe(
  v.string(),
  v.minLength(10),
  v.maxLength(40),
  v.regex(parameters.plain, 'printable ASCII, no & and no space at an end'),
);

const ofLegs = 'An option order may leave it to its legs; any other order needs it.';

const newOrderMembers = joinMembers(
  {
    client_order_id: newClientOrderId,
    combo_type: omittable(v.pipe(comboType, v.description('NORMAL when absent.'))),
    instrument_type: omittable(v.pipe(instrumentType, v.description(ofLegs))),
    entrust_type: entrustType,
    symbol: omittable(v.pipe(text, v.description(ofLegs))),
    market: omittable(v.pipe(market, v.description(ofLegs))),
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
  eachOmittable(orderTerms),
);

type InstrumentType = v.InferInput<typeof instrumentType>;

/** Requires a stock order to name its session, and each order to name its instrument, unless its legs do. */
export type SessionGiven =
  | {
      readonly instrument_type: 'EQUITY';
      readonly symbol: string;
      readonly support_trading_session: v.InferInput<typeof tradingSession>;
    }
  | { readonly instrument_type: Exclude<InstrumentType, 'EQUITY'>; readonly symbol: string }
  | { readonly instrument_type?: 'OPTION' | null; readonly legs: NonNullable<unknown> };

/**
 * Requires the session in the type alone: only a sandbox was seen to refuse orders without one, and only ordinary orders.
 * A request without a session is sent, and the upstream decides.
 */
/* @__NO_SIDE_EFFECTS__ */
const withSession = <S extends v.GenericSchema>(order: S) =>
  order as unknown as v.GenericSchema<v.InferInput<S> & SessionGiven, v.InferOutput<S>>;

const client_combo_order_id = omittable(
  v.pipe(v.string(), v.description('Groups the parts of a combination; made by the server when absent.')),
);

const readTheOrder =
  'Read getOrder by the same client_order_id. If there is no such order, send it again under the same id only: the upstream takes an id once.';

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
    // The vendor's pages name seven at most. One transaction of the journal has room for 96 entries beside the counters.
    new_orders: v.pipe(v.array(withSession(v.looseObject(newOrderMembers))), v.minLength(1), v.maxLength(96)),
  }),
  response: placed,
  accounts: accountInBody,
  sideEffect: {
    findOut: readTheOrder,
    saysOutcome: namesOrder,
    journal: { by: 'client_order_id', list: 'new_orders', answered: 'together', lookUp: 'getOrder' },
  },
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
    inSdk(
      'The header category is the market, _ and the instrument_type of the first order, or of its leg that is an option: US_EQUITY, US_OPTION, US_CRYPTO. The stock path of the previous version sends US_STOCK.',
    ),
    inSdk(
      'Samples of option orders name instrument_type, market and symbol in the legs alone. The pages want them at the top, too, which is the newer form.',
    ),
    inSdk(
      'Samples send the session N, which is an old word for CORE, as Y is for ALL; the newer words are on the pages.',
    ),
    onPage('ALL_DAY, from 8 pm to 8 pm Eastern Time, stands on pages of other regions.'),
    inSdk('The vendor’s assistant server sends extended_hours; no page has it.'),
    inSdk('Orders for event contracts name event_outcome, yes or no: LIMIT, DAY, by quantity.'),
    inferred(
      'An event contract pays at most one dollar, so that an order costs or brings in at most its quantity in dollars.',
    ),
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
            joinMembers(newOrderMembers, {
              instrument_type: omittable(
                v.pipe(v.picklist(['EQUITY', 'OPTION', 'FUTURES', 'EVENT']), v.description(ofLegs)),
              ),
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
  accounts: accountInBody,
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
          expire_date: omittable(requestedDay),
          stop_price: omittable(decimalText),
          limit_price: omittable(decimalText),
          quantity: omittable(decimalText),
          order_type: omittable(orderType),
          trailing_type: omittable(trailingType),
          trailing_stop_step: omittable(decimalText),
          target_vol_percent: omittable(targetVolume),
          max_target_percent: omittable(maxTarget),
          algo_start_time: omittable(v.string()),
          algo_end_time: omittable(v.string()),
          legs: omittable(v.array(v.looseObject({ id: text, quantity: omittable(decimalText) }))),
        }),
      ),
      v.minLength(1),
      // A combination has seven at most. Each order is read first, and all change in one transaction of the journal.
      v.maxLength(20),
    ),
  }),
  response: placed,
  accounts: accountInBody,
  sideEffect: {
    findOut: compareTheOrder,
    saysOutcome: namesOrder,
    journal: { by: 'idempotency-key', unkeyed: 'recorded', replaces: true, lookUp: 'getOrder' },
  },
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
    inSdk('A leg whose quantity stays is named by its id alone.'),
    onPage(
      'Concerns what is not filled yet; a filled or cancelled order is refused. Crypto orders cannot be replaced.',
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
          combo_type: omittable(v.picklist(['NORMAL'])),
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
          extended_hours: omittable(extendedHours),
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
  accounts: accountInBody,
  sideEffect: {
    findOut:
      'Read getOrder by each client_order_id. Send those that are missing again under the same ids only: the upstream takes an id once.',
    saysOutcome: namesOrders,
    journal: { by: 'client_order_id', list: 'batch_orders', answered: 'each', lookUp: 'getOrder' },
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
