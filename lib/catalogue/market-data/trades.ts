/** Depth of book, single trades and auctions of stocks. */

import * as v from 'valibot';
import { category, symbol, symbols } from '../common.ts';
import {
  answerSeen,
  bothCategories,
  fromVendor,
  laxRequired,
  momentsAreIntegers,
  notInText,
} from '../decided.ts';
import { bars, live } from '../freshness.ts';
import { onPage, seen } from '../notes.ts';
import { describe } from '../operation.ts';
import { choice, choices, flag, optional, whole } from '../parameters.ts';
import { decimal, decimalText, epochMilliseconds, moment, momentOrNone } from '../schemas.ts';

const queued = v.pipe(
  v.looseObject({
    mpid: v.pipe(v.string(), v.description('Market participant.')),
    size: decimal,
  }),
  v.title('QueuedOrder'),
);

const level = v.pipe(
  v.looseObject({
    price: decimal,
    size: decimal,
    order: v.optional(v.array(queued)),
    broker: v.optional(
      v.array(
        v.looseObject({
          bid: v.pipe(v.string(), v.description('Broker id, not a price.')),
          name: v.string(),
        }),
      ),
    ),
  }),
  v.title('DepthLevel'),
);

const imbalanceActionType = v.picklist(['PRE_OPEN', 'PRE_CLOSE']);

export const getStockQuotes = describe({
  id: 'getStockQuotes',
  group: 'market-data',
  title: 'Stock quotes (depth)',
  method: 'GET',
  path: '/market-data/stocks/depths/list',
  aliases: ['/openapi/market-data/stock/quotes'],
  query: {
    symbol,
    category,
    depth: optional(
      whole({
        description: 'Levels per side; level 1 gives 1, level 2 gives 10 when absent and up to 50.',
        minimum: 1,
        maximum: 50,
      }),
    ),
    overnight_required: optional(flag({ description: 'Use overnight session data; off when absent.' })),
  },
  response: v.looseObject({
    symbol: v.string(),
    instrument_id: v.string(),
    quote_time: moment,
    asks: v.array(level),
    bids: v.array(level),
    trading_session: v.optional(v.string()),
  }),
  limit: 'market-data',
  freshness: live,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', depth: '2', overnight_required: 'false' } },
  sources: fromVendor,
  notes: [
    onPage('Depth depends on the data subscription of the app key.'),
    seen('A depth above the subscribed level is refused with 417.'),
  ],
  decisions: [notInText, momentsAreIntegers, laxRequired],
});

export const listStockTicks = describe({
  id: 'listStockTicks',
  group: 'market-data',
  title: 'Stock ticks',
  method: 'GET',
  path: '/market-data/stocks/ticks/list',
  aliases: ['/openapi/market-data/stock/tick'],
  query: {
    symbol,
    category,
    count: whole({
      description: 'Number of ticks.',
      minimum: 1,
      maximum: 1000,
    }),
    trading_sessions: optional(
      choices(['PRE', 'RTH', 'ATH', 'OVN'], { description: 'Trading sessions to include.' }),
    ),
  },
  response: v.looseObject({
    symbol: v.string(),
    instrument_id: v.string(),
    result: v.array(
      v.looseObject({
        time: moment,
        price: decimal,
        volume: decimal,
        side: v.pipe(
          v.picklist(['B', 'S', 'G', 'L', 'N']),
          v.description('B at first bid, S at first ask, G above, L below, N neutral.'),
        ),
        trading_session: v.optional(v.string()),
      }),
    ),
  }),
  limit: 'market-data',
  freshness: live,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', count: '2', trading_sessions: 'PRE,RTH' } },
  sources: answerSeen,
  notes: [onPage('Newest tick first.'), seen('Each tick has its trading_session.')],
  decisions: [notInText, momentsAreIntegers, laxRequired],
});

export const listStockFootprints = describe({
  id: 'listStockFootprints',
  group: 'market-data',
  title: 'Stock footprint',
  method: 'GET',
  path: '/market-data/stocks/footprints/list',
  aliases: ['/openapi/market-data/stock/footprint'],
  query: {
    symbols: symbols(20),
    category,
    timespan: choice(['S5', 'S15', 'M1', 'M5', 'M30'], { description: 'Bar length.' }),
    count: optional(whole({ description: 'Number of bars, 200 when absent.', minimum: 1, maximum: 1200 })),
    real_time_required: optional(
      flag({ description: 'Include the bar still forming; minute bars only, off when absent.' }),
    ),
    trading_sessions: optional(
      choice(['PRE', 'RTH', 'ATH'], {
        description: 'Trading session, regular hours when absent; overnight is not supported.',
      }),
    ),
  },
  response: v.array(
    v.looseObject({
      symbol: v.optional(v.string()),
      instrument_id: v.optional(v.string()),
      result: v.optional(
        v.array(
          v.looseObject({
            time: v.optional(momentOrNone),
            trading_session: v.optional(v.string()),
            total: v.optional(decimal),
            delta: v.optional(decimal),
            buy_total: v.optional(decimal),
            sell_total: v.optional(decimal),
            buy_detail: v.optional(
              v.pipe(v.record(v.string(), decimalText), v.description('Price to volume.')),
            ),
            sell_detail: v.optional(
              v.pipe(v.record(v.string(), decimalText), v.description('Price to volume.')),
            ),
          }),
        ),
      ),
    }),
  ),
  limit: 'market-data',
  freshness: bars,
  example: {
    query: { symbols: 'AAPL', category: 'US_STOCK', timespan: 'M5', count: '1', real_time_required: 'false' },
  },
  sources: fromVendor,
  notes: [onPage('Needs a further paid data subscription.')],
  decisions: [notInText, bothCategories, momentsAreIntegers, laxRequired],
});

export const getStockNoiiSnapshot = describe({
  id: 'getStockNoiiSnapshot',
  group: 'market-data',
  title: 'Auction imbalance snapshot',
  method: 'GET',
  path: '/market-data/stocks/noii-snapshots/list',
  aliases: ['/openapi/market-data/stock/noii/snapshot'],
  query: {
    symbol,
    category,
    imbalance_action_type: choice(['PRE_OPEN', 'PRE_CLOSE'], { description: 'Opening or closing auction.' }),
  },
  response: v.looseObject({
    instrument_id: v.optional(v.string()),
    symbol: v.optional(v.string()),
    paired_shares: v.optional(decimal),
    imbalance_shares: v.optional(decimal),
    imbalance_side: v.optional(v.string()),
    imbalance_ref_price: v.optional(decimal),
    imbalance_near_price: v.optional(decimal),
    imbalance_far_price: v.optional(decimal),
    imbalance_action_type: v.optional(imbalanceActionType),
    imbalance_time: v.nullish(epochMilliseconds),
    imbalance_var_indicator: v.optional(v.string()),
  }),
  limit: 'market-data',
  // The upstream has new values every five seconds near the auctions.
  freshness: { seconds: 2, staleSeconds: 8 },
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', imbalance_action_type: 'PRE_CLOSE' } },
  sources: fromVendor,
  notes: [
    onPage(
      'New values come only near the auctions (09:28 to 09:30 and 15:50 to 16:00 US Eastern Time, every 5 s); older data is returned otherwise.',
    ),
    onPage('Needs a further paid data subscription.'),
  ],
  decisions: [notInText, bothCategories],
});

export const listStockNoiiBars = describe({
  id: 'listStockNoiiBars',
  group: 'market-data',
  title: 'Auction imbalance bars',
  method: 'GET',
  path: '/market-data/stocks/noii-bars/list',
  aliases: ['/openapi/market-data/stock/noii/bars'],
  query: {
    symbol,
    category,
    imbalance_action_type: choice(['PRE_OPEN', 'PRE_CLOSE'], { description: 'Opening or closing auction.' }),
  },
  response: v.array(
    v.looseObject({
      instrument_id: v.optional(v.string()),
      symbol: v.optional(v.string()),
      imbalance_time: v.nullish(epochMilliseconds),
      imbalance_ref_price: v.optional(decimal),
      imbalance_near_price: v.optional(decimal),
      imbalance_far_price: v.optional(decimal),
      imbalance_action_type: v.optional(imbalanceActionType),
    }),
  ),
  limit: 'market-data',
  freshness: { seconds: 5, staleSeconds: 10 },
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', imbalance_action_type: 'PRE_OPEN' } },
  sources: fromVendor,
  notes: [
    onPage(
      'New values come only near the auctions (09:28 to 09:30 and 15:50 to 16:00 US Eastern Time, every 5 s); older data is returned otherwise.',
    ),
    onPage('Needs a further paid data subscription.'),
  ],
  decisions: [notInText, bothCategories],
});
