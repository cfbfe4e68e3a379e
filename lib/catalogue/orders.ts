/** Orders: the group whose requests move money. */

import * as v from 'valibot';
import { inGroup } from './operation.ts';
import { day, decimal, text } from './schemas.ts';

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

const newOrder = v.looseObject({
  /** Chosen by the caller, unique per account: the guard against placing an order twice. */
  client_order_id: v.pipe(text, v.maxLength(32)),
  combo_type: v.picklist(['NORMAL', 'MASTER', 'STOP_PROFIT', 'STOP_LOSS', 'OTO', 'OCO', 'OTOCO']),
  instrument_type: v.picklist(['EQUITY', 'OPTION', 'FUTURES', 'CRYPTO', 'EVENT']),
  entrust_type: v.picklist(['QTY', 'AMOUNT']),
  symbol: text,
  market,
  side,
  order_type: v.picklist([
    'MARKET',
    'LIMIT',
    'STOP_LOSS',
    'STOP_LOSS_LIMIT',
    'TRAILING_STOP_LOSS',
    'MARKET_ON_OPEN',
    'MARKET_ON_CLOSE',
    'LIMIT_ON_OPEN',
  ]),
  time_in_force: v.picklist(['DAY', 'GTC', 'IOC', 'GTD', 'FOK']),
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
  support_trading_session: v.optional(v.picklist(['ALL', 'CORE', 'NIGHT'])),
  expire_date: v.optional(day),
  stop_price: v.optional(decimal),
  limit_price: v.optional(decimal),
  quantity: v.optional(decimal),
  trailing_type: v.optional(v.picklist(['AMOUNT', 'PERCENTAGE'])),
  trailing_stop_step: v.optional(decimal),
  algo_type: v.optional(v.picklist(['TWAP', 'VWAP', 'POV'])),
  target_vol_percent: v.optional(v.string()),
  max_target_percent: v.optional(v.string()),
  algo_start_time: v.optional(v.string()),
  algo_end_time: v.optional(v.string()),
  legs: v.optional(v.array(leg)),
  total_cash_amount: v.optional(decimal),
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
