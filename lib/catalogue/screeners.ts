/** Screeners: rankings of the whole market. */

import * as v from 'valibot';
import { category, direction, pageKey } from './common.ts';
import {
  bothCategories,
  fromVendor,
  laxRequired,
  monthLetters,
  noSourceInText,
  olderPath,
  oneLimit,
  requestSeen,
} from './decided.ts';
import { session } from './freshness.ts';
import { onPage } from './notes.ts';
import { cursorPaging, describe } from './operation.ts';
import { choice, optional, text } from './parameters.ts';
import { day, decimal, joinMembers, nextPage } from './schemas.ts';

const sortFields = [
  'CHANGE_RATIO',
  'RELATIVE_VOLUME_10D',
  'MARKET_VALUE',
  'CLOSE',
  'PRICE',
  'PE_TTM',
  'HIGH',
  'LOW',
  'AMPLITUDE',
  'TURNOVER',
  'VOLUME',
] as const;

const ranked = v.pipe(
  v.looseObject({
    instrument_id: v.optional(v.string()),
    symbol: v.optional(v.string()),
    name: v.optional(v.string()),
    exchange_code: v.optional(v.string()),
    currency_code: v.optional(v.string()),
    pre_close: v.optional(decimal),
    open: v.optional(decimal),
    high: v.optional(decimal),
    low: v.optional(decimal),
    close: v.optional(decimal),
    price: v.optional(decimal),
    change: v.optional(decimal),
    change_ratio: v.optional(decimal),
    volume: v.optional(decimal),
    turnover: v.optional(decimal),
    turnover_rate: v.optional(decimal),
    market_value: v.optional(decimal),
    amplitude: v.optional(decimal),
    relative_volume_10d: v.optional(decimal),
    pe_ttm: v.optional(decimal),
  }),
  v.title('RankedStock'),
);

const periods = ['D1', 'D5', 'MO1', 'MO3'] as const;

const sortFieldsWithDividends = withMore(sortFields, ['YIELD', 'DIVIDEND']);

/** Members of an instrument in the rankings that have a category and a currency. */
const rankedFacts = {
  instrument_id: v.optional(v.string()),
  category: v.optional(v.string()),
  currency: v.optional(v.string()),
  name: v.optional(v.string()),
  symbol: v.optional(v.string()),
  exchange_code: v.optional(v.string()),
  close: v.optional(decimal),
  change: v.optional(decimal),
  change_ratio: v.optional(decimal),
  price: v.optional(decimal),
  volume: v.optional(decimal),
  market_value: v.optional(decimal),
  turnover_rate: v.optional(decimal),
  amplitude: v.optional(decimal),
  high: v.optional(decimal),
  low: v.optional(decimal),
  turnover: v.optional(decimal),
  pe_ttm: v.optional(decimal),
  ticker_symbol: v.optional(v.string()),
};

const dividendRanked = v.looseObject(
  joinMembers(rankedFacts, {
    yield: v.optional(decimal),
    dividend: v.optional(decimal),
    ex_date: v.optional(day),
  }),
);

export const listGainersLosers = describe({
  id: 'listGainersLosers',
  group: 'screeners',
  title: 'Stock Top Gainers/Losers Rank',
  method: 'GET',
  path: '/market-data/screeners/gainers-losers/list',
  aliases: [],
  query: {
    rank_type: choice(
      ['PRE_MARKET', 'AFTER_MARKET', 'MIN_3', 'MIN_5', 'DAY_1', 'DAY_5', 'MONTH_1', 'MONTH_3', 'WEEK_52'],
      { description: 'Window the change is measured over, DAY_1 by default.' },
    ),
    category,
    sort_by: choice(sortFields, { description: 'Field to sort by, CHANGE_RATIO by default.' }),
    direction: optional(
      choice(['ASC', 'DESC'], { description: 'DESC for gainers, the default; ASC for losers.' }),
    ),
  },
  response: v.array(ranked),
  limit: 'market-data',
  freshness: session,
  example: {
    query: { rank_type: 'DAY_1', category: 'US_STOCK', sort_by: 'CHANGE_RATIO', direction: 'DESC' },
  },
  sources: fromVendor,
  notes: [
    onPage('Always the top 200, no paging.'),
    onPage('turnover is not returned for the US market under some data authorisations.'),
  ],
  decisions: [noSourceInText, bothCategories, oneLimit, laxRequired, olderPath],
});

export const listTopActive = describe({
  id: 'listTopActive',
  group: 'screeners',
  title: 'Top Active',
  method: 'GET',
  path: '/market-data/screeners/top-actives/list',
  aliases: [],
  query: {
    category,
    rank_type: optional(
      choice(['VOLUME', 'RELATIVE_VOLUME_10D', 'TURNOVER', 'TURNOVER_RATE', 'AMPLITUDE'], {
        description: 'Activity measure, VOLUME when absent.',
      }),
    ),
    sort_by: optional(choice(sortFields, { description: 'Field to sort by, VOLUME when absent.' })),
    direction: direction('DESC'),
  },
  response: v.array(ranked),
  limit: 'market-data',
  freshness: session,
  example: { query: { category: 'US_STOCK', rank_type: 'VOLUME', sort_by: 'VOLUME', direction: 'DESC' } },
  sources: fromVendor,
  notes: [
    onPage('Always the top 200, no paging.'),
    onPage('turnover is not returned for the US market under some data authorisations.'),
  ],
  decisions: [noSourceInText, bothCategories, oneLimit, olderPath],
});

export const listMarketSectors = describe({
  id: 'listMarketSectors',
  group: 'screeners',
  title: 'Market Sectors',
  method: 'GET',
  path: '/market-data/screeners/market-sectors/list',
  aliases: [],
  query: {
    category,
    agg_type: optional(
      choice(['MARKET_VALUE', 'VOLUME'], {
        description: 'What the sector is measured by, MARKET_VALUE when absent.',
      }),
    ),
    period: optional(choice(periods, { description: 'Window, D1 when absent.' })),
    direction: direction('ASC'),
    pagination_key: pageKey,
  },
  response: v.looseObject({
    data: v.optional(
      v.array(
        v.looseObject({
          id: v.optional(v.string()),
          name: v.optional(v.string()),
          change_ratio: v.optional(decimal),
          volume: v.optional(decimal),
          market_value: v.optional(decimal),
          declined: v.optional(decimal),
          advanced: v.optional(decimal),
          flat: v.optional(decimal),
          data: v.optional(
            v.pipe(
              v.array(
                v.looseObject({
                  instrument_id: v.optional(v.string()),
                  name: v.optional(v.string()),
                  symbol: v.optional(v.string()),
                }),
              ),
              v.description('Leading stocks.'),
            ),
          ),
        }),
      ),
    ),
    pagination_key: nextPage,
  }),
  limit: 'market-data',
  paging: cursorPaging,
  freshness: session,
  example: { query: { category: 'US_STOCK', agg_type: 'MARKET_VALUE', period: 'D1', direction: 'DESC' } },
  sources: requestSeen,
  notes: [onPage('declined, advanced and flat are counts as text.')],
  decisions: [noSourceInText, bothCategories, oneLimit, monthLetters, olderPath],
});

export const getMarketSectorDetail = describe({
  id: 'getMarketSectorDetail',
  group: 'screeners',
  title: 'Market Sector Detail',
  method: 'GET',
  path: '/market-data/screeners/market-sectors/get',
  aliases: [],
  query: {
    sector_id: text({ description: 'id of a sector from the sector list.', maxLength: 64 }),
    category,
    period: optional(choice(periods, { description: 'Window, D1 when absent.' })),
    sort_by: optional(
      choice(sortFieldsWithDividends, { description: 'Field to sort by, CHANGE_RATIO when absent.' }),
    ),
    direction: direction('ASC'),
    pagination_key: pageKey,
  },
  response: v.looseObject({
    id: v.optional(v.string()),
    name: v.optional(v.string()),
    change_ratio: v.optional(decimal),
    declined: v.optional(decimal),
    advanced: v.optional(decimal),
    flat: v.optional(decimal),
    data: v.optional(
      v.array(
        v.looseObject({
          instrument_id: v.optional(v.string()),
          category: v.optional(v.string()),
          currency: v.optional(v.string()),
          name: v.optional(v.string()),
          symbol: v.optional(v.string()),
          exchange_code: v.optional(v.string()),
          close: v.optional(decimal),
          change_ratio: v.optional(decimal),
          price: v.optional(decimal),
          volume: v.optional(decimal),
          market_value: v.optional(decimal),
          turnover_rate: v.optional(decimal),
          amplitude: v.optional(decimal),
          high: v.optional(decimal),
          low: v.optional(decimal),
        }),
      ),
    ),
    pagination_key: nextPage,
  }),
  limit: 'market-data',
  paging: cursorPaging,
  freshness: session,
  example: {
    query: {
      sector_id: '6412',
      category: 'US_STOCK',
      period: 'D1',
      sort_by: 'CHANGE_RATIO',
      direction: 'DESC',
    },
  },
  sources: requestSeen,
  decisions: [noSourceInText, bothCategories, oneLimit, monthLetters, olderPath],
});

export const listHighDividendRank = describe({
  id: 'listHighDividendRank',
  group: 'screeners',
  title: 'High Dividend Rank',
  method: 'GET',
  path: '/market-data/screeners/high-dividend-ranks/list',
  aliases: [],
  query: {
    category,
    sort_by: optional(
      choice(sortFieldsWithDividends, { description: 'Field to sort by, YIELD when absent.' }),
    ),
    direction: direction('DESC'),
  },
  response: v.array(dividendRanked),
  limit: 'market-data',
  freshness: { seconds: 300, staleSeconds: 900 },
  example: { query: { category: 'US_STOCK', sort_by: 'YIELD', direction: 'DESC' } },
  sources: fromVendor,
  notes: [onPage('Always the top 200, no paging.')],
  decisions: [noSourceInText, bothCategories, oneLimit, olderPath],
});

export const listWeek52HighLow = describe({
  id: 'listWeek52HighLow',
  group: 'screeners',
  title: '52-Week High/Low',
  method: 'GET',
  path: '/market-data/screeners/week52-high-low/list',
  aliases: [],
  query: {
    category,
    rank_type: optional(
      choice(['NEW_HIGH', 'NEAR_HIGH', 'NEW_LOW', 'NEAR_LOW'], {
        description: 'Which list; no default is documented.',
      }),
    ),
    sort_by: optional(
      choice(withMore(sortFieldsWithDividends, ['CHANGE_RATIO_52W']), {
        description: 'Field to sort by, CHANGE_RATIO_52W when absent.',
      }),
    ),
    direction: direction('ASC'),
  },
  response: v.array(
    v.looseObject(
      joinMembers(rankedFacts, {
        price_1w: v.optional(decimal),
        price_52w: v.optional(decimal),
        change_ratio_52w: v.optional(decimal),
      }),
    ),
  ),
  limit: 'market-data',
  freshness: { seconds: 30, staleSeconds: 120 },
  example: {
    query: { category: 'US_STOCK', rank_type: 'NEW_HIGH', sort_by: 'CHANGE_RATIO_52W', direction: 'DESC' },
  },
  sources: fromVendor,
  notes: [onPage('Always the top 200, no paging.')],
  decisions: [noSourceInText, bothCategories, oneLimit, olderPath],
});

/** Joins two lists in a function: bundlers take a spread elsewhere for a side effect; see `joinMembers`. */
/* @__NO_SIDE_EFFECTS__ */
function withMore<const A extends readonly string[], const B extends readonly string[]>(
  some: A,
  more: B,
): readonly [...A, ...B] {
  return [...some, ...more];
}
