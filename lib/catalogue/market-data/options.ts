/** Market data of options. */

import * as v from 'valibot';
import { optionCategory, optionSymbol, optionSymbols } from '../common.ts';
import { fromVendor, momentsAreIntegers, noSourceInText, notInText, olderPath } from '../decided.ts';
import { bars, live } from '../freshness.ts';
import { describe } from '../operation.ts';
import { choice, epoch, flag, optional, whole } from '../parameters.ts';
import { decimal, moment } from '../schemas.ts';

const optionBars = v.array(
  v.looseObject({
    symbol: v.string(),
    instrument_id: v.string(),
    result: v.array(
      v.looseObject({
        time: moment,
        open: decimal,
        close: decimal,
        high: decimal,
        low: decimal,
        volume: decimal,
      }),
    ),
  }),
);

/** The upstream writes `""` or `null` for a number that it does not report. */
const reported = v.nullish(
  v.pipe(
    v.string(),
    v.regex(/^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)?$/, 'a decimal number in a string, or none'),
    v.metadata({ format: 'decimal' }),
  ),
);

export const listOptionBars = describe({
  id: 'listOptionBars',
  group: 'market-data',
  title: 'Option Historical Bars',
  method: 'GET',
  path: '/market-data/options/bars/list',
  aliases: [],
  query: {
    symbols: optionSymbols(20),
    category: optionCategory,
    timespan: choice(['M1', 'M5', 'M15', 'M30', 'M60', 'M120', 'M240', 'D', 'W', 'M', 'Y'], {
      description: 'Bar length.',
    }),
    count: optional(whole({ description: 'Number of bars, 200 when absent.', minimum: 1, maximum: 1200 })),
    real_time_required: optional(flag({ description: 'Include the newest data; off when absent.' })),
    start_time: optional(epoch({ description: 'Start of the range, epoch milliseconds.' })),
    end_time: optional(epoch({ description: 'End of the range, epoch milliseconds.' })),
  },
  response: v.union([optionBars, v.looseObject({ result: optionBars })]),
  limit: 'market-data',
  freshness: bars,
  example: {
    query: {
      symbols: 'AAPL270115C00240000',
      category: 'US_OPTION',
      timespan: 'M5',
      count: '2',
      start_time: '1792589400000',
      end_time: '1792612800000',
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['interface', 'vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs', 'vendor-sdk'],
  },
  notes: [
    'Note the two one-letter traps in timespan: M is one month, M1 is one minute.',
    'An account with delayed data has its end_time moved back by the server.',
  ],
  decisions: [
    noSourceInText,
    momentsAreIntegers,
    'start_time and end_time are the interface text’s; the answer is the docs’ object with result, not the older bare array.',
    olderPath,
  ],
});

export const getOptionSnapshots = describe({
  id: 'getOptionSnapshots',
  group: 'market-data',
  title: 'Option snapshot',
  method: 'GET',
  path: '/market-data/options/snapshots/list',
  aliases: ['/openapi/market-data/option/snapshot'],
  query: { symbols: optionSymbols(20), category: optionCategory },
  response: v.array(
    v.looseObject({
      symbol: v.string(),
      instrument_id: v.optional(v.string()),
      price: v.optional(decimal),
      open: v.nullish(decimal),
      high: v.nullish(decimal),
      low: v.nullish(decimal),
      close: v.optional(decimal),
      pre_close: v.optional(decimal),
      volume: v.nullish(decimal),
      change: v.nullish(decimal),
      change_ratio: v.optional(decimal),
      last_trade_time: v.optional(moment),
      quote_time: v.optional(moment),
      bid: v.optional(decimal),
      ask: v.optional(decimal),
      bid_size: v.optional(decimal),
      ask_size: v.optional(decimal),
      deal_amount: v.optional(decimal),
      strike_price: v.optional(decimal),
      imp_vol: reported,
      open_interest: v.optional(decimal),
      gamma: reported,
      delta: reported,
      theta: reported,
      vega: reported,
      rho: reported,
    }),
  ),
  limit: 'market-data',
  freshness: live,
  example: { query: { symbols: 'AAPL270115C00240000,MSFT270115P00500000', category: 'US_OPTION' } },
  sources: fromVendor,
  notes: ['Fields that need a trade in the session may be empty.'],
  decisions: [notInText, momentsAreIntegers],
});

export const listOptionTicks = describe({
  id: 'listOptionTicks',
  group: 'market-data',
  title: 'Option ticks',
  method: 'GET',
  path: '/market-data/options/ticks/list',
  aliases: ['/openapi/market-data/option/tick'],
  query: {
    symbol: optionSymbol,
    category: optionCategory,
    count: whole({ description: 'Number of ticks.', minimum: 1, maximum: 1200 }),
  },
  response: v.looseObject({
    symbol: v.string(),
    instrument_id: v.optional(v.string()),
    instrumentId: v.optional(v.string()),
    result: v.array(
      v.looseObject({
        time: moment,
        price: decimal,
        volume: decimal,
        side: v.pipe(
          v.picklist(['B', 'S', 'G', 'L', 'N']),
          v.description('B at first bid, S at first ask, G above, L below, N neutral.'),
        ),
      }),
    ),
  }),
  limit: 'market-data',
  freshness: live,
  example: { query: { symbol: 'AAPL270115C00240000', category: 'US_OPTION', count: '1' } },
  sources: fromVendor,
  notes: ['Newest tick first.'],
  decisions: [notInText, momentsAreIntegers],
});
