/** Orders: the group whose requests move money. */

import * as v from 'valibot';
import { inGroup } from './operation.ts';
import * as parameters from './parameters.ts';
import { day, decimal, epochMilliseconds, text } from './schemas.ts';

const operation = inGroup('orders');

const side = v.picklist(['BUY', 'SELL', 'SHORT']);
const market = v.picklist(['US']);

/** One leg of an option order. */
const leg = v.looseObject({
  side,
  market,
  instrument_type: v.picklist(['EQUITY', 'OPTION']),
  symbol: text,
  quantity: v.optional(decimal),
  strike_price: v.optional(decimal),
  option_expire_date: v.optional(day),
  option_type: v.optional(v.picklist(['CALL', 'PUT'])),
});

/** Chosen by the caller, unique per account: the guard against placing an order twice. */
const clientOrderIdLength = 32;

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
const tradingSession = v.picklist(['ALL', 'CORE', 'NIGHT']);

/** What an order that is asked for and one that is shown have in common, all of it optional. */
const orderOptions = {
  support_trading_session: v.optional(tradingSession),
  expire_date: v.optional(day),
  stop_price: v.optional(decimal),
  limit_price: v.optional(decimal),
  trailing_type: v.optional(v.picklist(['AMOUNT', 'PERCENTAGE'])),
  trailing_stop_step: v.optional(decimal),
  algo_type: v.optional(v.picklist(['TWAP', 'VWAP', 'POV'])),
  target_vol_percent: v.optional(v.string()),
  max_target_percent: v.optional(v.string()),
  algo_start_time: v.optional(v.string()),
  algo_end_time: v.optional(v.string()),
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

const newOrder = v.looseObject({
  client_order_id: v.pipe(text, v.maxLength(clientOrderIdLength)),
  combo_type: comboType,
  instrument_type: instrumentType,
  entrust_type: entrustType,
  symbol: text,
  market,
  side,
  order_type: orderType,
  time_in_force: timeInForce,
  ...orderOptions,
  quantity: v.optional(decimal),
  total_cash_amount: v.optional(decimal),
  legs: v.optional(v.array(leg)),
});

export const placeOrder = operation({
  id: 'placeOrder',
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
    client_combo_order_id: v.optional(v.string()),
    new_orders: v.pipe(v.array(newOrder), v.minLength(1)),
  }),
  response: v.looseObject({
    client_order_id: v.optional(v.string()),
    order_id: v.optional(v.string()),
    client_combo_order_id: v.optional(v.string()),
    combo_order_id: v.optional(v.string()),
  }),
  sideEffect: { findOut: 'Read getOrder by the same client_order_id before sending anything again.' },
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
});

/** A moment: the interface's rule is an integer, the wire has ISO 8601 text under names that end in `_at`. */
const moment = v.union([v.string(), epochMilliseconds]);

const shownOrder = v.looseObject({
  client_order_id: v.string(),
  order_id: v.string(),
  symbol: v.string(),
  side,
  status: v.picklist(['PENDING', 'SUBMITTED', 'CANCELLED', 'FILLED', 'FAILED', 'PARTIAL_FILLED']),
  order_type: orderType,
  entrust_type: entrustType,
  time_in_force: timeInForce,
  total_quantity: decimal,
  place_time_at: moment,
  instrument_type: v.optional(instrumentType),
  filled_quantity: v.optional(decimal),
  filled_price: v.nullish(decimal),
  place_time: v.optional(moment),
  filled_time: v.optional(moment),
  filled_time_at: v.optional(moment),
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
  ...orderOptions,
});

export const getOrder = operation({
  id: 'getOrder',
  title: 'Order detail',
  method: 'GET',
  path: '/trading/orders/get',
  aliases: ['/openapi/trade/order/detail'],
  query: {
    account_id: parameters.text({ description: 'The account that the order belongs to.', maxLength: 64 }),
    client_order_id: parameters.text({
      description: 'The id that the caller chose when the order was placed.',
      maxLength: clientOrderIdLength,
    }),
  },
  response: v.looseObject({
    combo_type: comboType,
    orders: v.array(shownOrder),
    client_order_id: v.optional(v.string()),
    combo_order_id: v.optional(v.string()),
    client_combo_order_id: v.optional(v.string()),
  }),
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  decisions: [
    'The vendor docs call client_order_id a paging cursor on this page; the SDK and the text show that it is the order’s id.',
    'The values of status are the union of what SDK and docs name.',
  ],
});
