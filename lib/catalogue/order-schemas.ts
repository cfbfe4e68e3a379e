/** Schemas that requests and answers about orders share; no operation is exported here. */

import * as v from 'valibot';
import { optionStrategy } from './common.ts';
import { instrumentTypes, sessionsOf } from './order-words.ts';
import { requestedDay, text } from './schemas.ts';

export const side = v.picklist(['BUY', 'SELL', 'SHORT']);
export const market = v.picklist(['US']);

/** Id of an existing order. Another program may have placed it, so any id that the upstream accepted is allowed. */
export const clientOrderId = text;

export const comboType = v.picklist(['NORMAL', 'MASTER', 'STOP_PROFIT', 'STOP_LOSS', 'OTO', 'OCO', 'OTOCO']);
export const instrumentType = v.picklist(instrumentTypes);
export const entrustType = v.picklist(['QTY', 'AMOUNT']);
export const orderType = v.picklist([
  'MARKET',
  'LIMIT',
  'STOP_LOSS',
  'STOP_LOSS_LIMIT',
  'TRAILING_STOP_LOSS',
  'MARKET_ON_OPEN',
  'MARKET_ON_CLOSE',
  'LIMIT_ON_OPEN',
]);
export const timeInForce = v.picklist(['DAY', 'GTC', 'IOC', 'GTD', 'FOK']);
export const trailingType = v.picklist(['AMOUNT', 'PERCENTAGE']);

export const tradingSession = v.picklist(Object.keys(sessionsOf) as (keyof typeof sessionsOf)[]);

/** A whole number as text or, because some clients write it so, as a number. */
const wholeNumber = v.union([v.string(), v.pipe(v.number(), v.integer('a whole number'))]);

export const targetVolume = v.pipe(wholeNumber, v.description('POV only: 1 to 20, as text.'));
export const maxTarget = v.pipe(wholeNumber, v.description('TWAP and VWAP: 1 to 20, as text.'));
export const extendedHours = v.pipe(
  v.boolean(),
  v.description('True: executed outside the regular session, too.'),
);

/** Members that new orders and listed orders share, besides their prices. */
export const orderTerms = {
  expire_date: requestedDay,
  trailing_type: trailingType,
  algo_type: v.picklist(['TWAP', 'VWAP', 'POV']),
  target_vol_percent: targetVolume,
  max_target_percent: maxTarget,
  algo_start_time: v.pipe(v.string(), v.description('HH:mm:ss, US Eastern Time.')),
  algo_end_time: v.pipe(v.string(), v.description('HH:mm:ss, US Eastern Time.')),
  position_intent: v.picklist(['BUY_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_OPEN', 'SELL_TO_CLOSE']),
  leg_in_or_out: v.picklist(['LEG_IN', 'LEG_OUT']),
  position_id: wholeNumber,
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
  event_outcome: v.pipe(
    v.picklist(['yes', 'no']),
    v.description('Event contracts only: the side that is traded. It pays at most one dollar.'),
  ),
  extended_hours: extendedHours,
  account_tax_type: v.pipe(
    v.picklist(['GENERAL', 'SPECIFIC']),
    v.description('Tax class, in regions that have one; it names no account.'),
  ),
};

/** Answer of a call that concerns one order, or one combination. */
export const placed = v.pipe(
  v.looseObject({
    client_order_id: v.optional(v.string()),
    order_id: v.optional(v.string()),
    client_combo_order_id: v.optional(v.string()),
    combo_order_id: v.optional(v.string()),
  }),
  v.title('PlacedOrder'),
);

export const compareTheOrder =
  'Read getOrder by the same client_order_id and compare before sending anything again.';
