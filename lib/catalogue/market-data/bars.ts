/** Historical bars of stocks. */

import * as v from 'valibot';
import { category, symbol } from '../common.ts';
import { momentsAreIntegers, noSourceInText } from '../decided.ts';
import { bars } from '../freshness.ts';
import { inferred, onPage, seen } from '../notes.ts';
import { describe } from '../operation.ts';
import { choice, choices, epoch, flag, optional, whole } from '../parameters.ts';
import { decimal, moment, omittable, requestedMilliseconds } from '../schemas.ts';

const tradingSession = v.picklist(['PRE', 'RTH', 'ATH', 'OVN']);

const bar = v.pipe(
  v.looseObject({
    time: moment,
    open: decimal,
    close: decimal,
    high: decimal,
    low: decimal,
    volume: decimal,
    trading_session: v.optional(tradingSession),
  }),
  v.title('StockBar'),
);

export const listStockBars = describe({
  id: 'listStockBars',
  group: 'market-data',
  title: 'Historical Bars',
  method: 'POST',
  path: '/market-data/stocks/bars/list',
  aliases: ['/openapi/market-data/stock/batch-bars'],
  query: {},
  body: v.looseObject({
    symbols: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(20)),
    category: v.picklist(['US_STOCK', 'US_ETF']),
    timespan: v.picklist(['M1', 'M5', 'M15', 'M30', 'M60', 'M120', 'M240', 'D', 'W', 'M', 'Y']),
    count: omittable(
      v.pipe(
        v.union([
          v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1650)),
          v.pipe(
            v.string(),
            v.regex(/^([1-9]\d{0,2}|1[0-5]\d\d|16[0-4]\d|1650)$/, 'a whole number from 1 to 1650'),
          ),
        ]),
        v.description('Bars per symbol, 200 when absent, at most 1200 (1650 for M1).'),
      ),
    ),
    real_time_required: omittable(
      v.pipe(v.boolean(), v.description('Include the bar still forming; on when absent.')),
    ),
    trading_sessions: omittable(
      v.pipe(
        v.pipe(
          v.string(),
          v.regex(
            /^(PRE|RTH|ATH|OVN)(,(PRE|RTH|ATH|OVN))*$/,
            'one or more of PRE, RTH, ATH, OVN, separated by commas',
          ),
        ),
        v.description('Comma list; regular hours when absent.'),
      ),
    ),
    start_time: omittable(requestedMilliseconds),
    end_time: omittable(requestedMilliseconds),
  }),
  response: v.looseObject({
    result: v.array(v.looseObject({ symbol: v.string(), instrument_id: v.string(), result: v.array(bar) })),
  }),
  limit: 'market-data',
  freshness: bars,
  recordBytes: 180,
  example: {
    body: {
      symbols: ['AAPL'],
      category: 'US_STOCK',
      timespan: 'D',
      count: 2,
      real_time_required: false,
      trading_sessions: 'RTH',
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['interface', 'vendor-sdk', 'vendor-docs'],
    response: ['observed', 'vendor-docs', 'vendor-sdk'],
  },
  notes: [
    inferred('A read done by POST: safe to retry and to cache by body.'),
    seen('Serves one symbol and many.'),
    onPage('Daily and longer bars are forward-adjusted; minute bars are not adjusted.'),
    onPage('Note the two one-letter traps in timespan: M is one month, M1 is one minute.'),
    onPage('An account with delayed data has its end_time moved back by the server.'),
  ],
  decisions: [
    noSourceInText,
    momentsAreIntegers,
    'The interface text calls timespan a query parameter, the current version takes a body: this is the body form, getStockBars the query form.',
    'Up to 1650 bars are accepted, which the docs allow for M1; the SDK speaks of 1200 for all. The forming bar is included when real_time_required is absent, as the docs have it; the SDK says nothing.',
  ],
});

export const getStockBars = describe({
  id: 'getStockBars',
  group: 'market-data',
  title: 'Historical Bars (one symbol, query form)',
  method: 'GET',
  path: '/market-data/stocks/bars/get',
  aliases: ['/openapi/market-data/stock/bars'],
  query: {
    symbol,
    category,
    timespan: choice(['M1', 'M5', 'M15', 'M30', 'M60', 'M120', 'M240', 'D', 'W', 'M', 'Y'], {
      description: 'Bar length.',
    }),
    count: optional(
      whole({ description: 'Number of bars, 200 when absent, at most 1200.', minimum: 1, maximum: 1200 }),
    ),
    real_time_required: optional(flag({ description: 'Include the bar still forming; on when absent.' })),
    trading_sessions: optional(
      choices(['PRE', 'RTH', 'ATH', 'OVN'], {
        description: 'Trading sessions to include; regular hours when absent.',
      }),
    ),
    start_time: optional(epoch({ description: 'Start of the range, epoch milliseconds.' })),
    end_time: optional(epoch({ description: 'End of the range, epoch milliseconds.' })),
  },
  response: v.array(bar),
  limit: 'market-data',
  freshness: bars,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', timespan: 'D', count: '2' } },
  sources: { path: ['vendor-sdk'], request: ['interface', 'vendor-sdk'], response: ['vendor-sdk'] },
  notes: [
    seen('The live upstream answers this path with 404: use listStockBars, which serves one symbol too.'),
    onPage('Daily and longer bars are forward-adjusted; minute bars are not adjusted.'),
    onPage('Note the two one-letter traps in timespan: M is one month, M1 is one minute.'),
    onPage('An account with delayed data has its end_time moved back by the server.'),
  ],
  decisions: [
    noSourceInText,
    momentsAreIntegers,
    'Kept because the interface text describes timespan as a query parameter; the SDK calls this form retired.',
  ],
  deprecated: 'Live it is 404, and the vendor’s SDK calls it retired: use listStockBars.',
});
