/** Fundamentals of funds. */

import * as v from 'valibot';
import { category, pageKey, symbol } from '../common.ts';
import {
  bothCategories,
  fromVendor,
  momentsAreIntegers,
  noSourceInText,
  olderPath,
  oneLimit,
  ordinals,
} from '../decided.ts';
import { daily, hourly } from '../freshness.ts';
import { inferred, onPage } from '../notes.ts';
import { cursorPaging, describe } from '../operation.ts';
import * as parameters from '../parameters.ts';
import { day, decimal, momentOrNone, nextPage, ordinal, url } from '../schemas.ts';

const share = v.pipe(
  v.looseObject({
    value: v.optional(decimal),
    ratio: v.optional(v.pipe(decimal, v.description('Percent, not ratio.'))),
  }),
  v.title('FundShare'),
);

export const getFundAllocations = describe({
  id: 'getFundAllocations',
  group: 'fundamentals',
  title: 'Fund allocations',
  method: 'GET',
  path: '/market-data/fundamentals/fund-allocations/get',
  aliases: ['/openapi/fundamentals/fund/allocation'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      date: v.optional(day),
      aum: v.optional(decimal),
      cash: v.optional(share),
      bond: v.optional(share),
      stock: v.optional(share),
      preferred: v.optional(share),
      convertible: v.optional(share),
      other: v.optional(share),
    }),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('ratio is a percentage here (99.92), while change_ratio elsewhere is a fraction.')],
  decisions: [noSourceInText, bothCategories, oneLimit],
});

export const getFundBrief = describe({
  id: 'getFundBrief',
  group: 'fundamentals',
  title: 'Fund brief',
  method: 'GET',
  path: '/market-data/fundamentals/fund-brief/get',
  aliases: ['/openapi/fundamentals/fund/brief'],
  query: { symbol, category },
  response: v.looseObject({
    name: v.optional(v.string()),
    launch_date: v.optional(day),
    benchmark: v.optional(v.string()),
    investment_objective: v.optional(v.string()),
    aum: v.optional(decimal),
    issuer: v.optional(v.string()),
    custodian: v.optional(v.string()),
    managers: v.optional(
      v.array(
        v.looseObject({
          name: v.optional(v.string()),
          title: v.optional(v.string()),
          start_date: v.optional(day),
          end_date: v.nullish(day),
          is_incumbent: v.optional(v.pipe(ordinal, v.description('1 for a manager in office.'))),
          tenure_return: v.optional(decimal),
          tenure_years: v.optional(decimal),
          tenure_days: v.optional(ordinal),
        }),
      ),
    ),
  }),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getFundDividends = describe({
  id: 'getFundDividends',
  group: 'fundamentals',
  title: 'Fund dividends',
  method: 'GET',
  path: '/market-data/fundamentals/fund-dividends/get',
  aliases: [],
  query: { symbol, category, pagination_key: pageKey },
  response: v.looseObject({
    data: v.optional(
      v.array(
        v.looseObject({
          share_date: v.optional(v.pipe(momentOrNone, v.description('Ex-date.'))),
          publish_date: v.optional(v.pipe(momentOrNone, v.description('Declaration date.'))),
          pay_date: v.optional(momentOrNone),
          record_date: v.optional(momentOrNone),
          dps: v.optional(decimal),
        }),
      ),
    ),
    pagination_key: nextPage,
  }),
  limit: 'market-data',
  paging: cursorPaging,
  freshness: daily,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('The vendor shows these dates as text with a time part (2026-03-15T00:00:00.000+0000).')],
  decisions: [noSourceInText, bothCategories, momentsAreIntegers, oneLimit, olderPath],
});

export const getFundFiles = describe({
  id: 'getFundFiles',
  group: 'fundamentals',
  title: 'Fund files',
  method: 'GET',
  path: '/market-data/fundamentals/fund-files/get',
  aliases: ['/openapi/fundamentals/fund/files'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      publish_date: v.optional(day),
      url: v.optional(url),
      file_name: v.optional(v.string()),
      type: v.optional(
        v.pipe(
          ordinal,
          v.description(
            '1 prospectus, 4 annual report, 5 semi-annual report, 14 quarterly report, 17 prospectus summary, 37 announcement, 51 statutes, 52 factsheet, 57 statutes summary, 58 custodian agreement, 74 investor information, 76 key facts, 77 product highlights, 112 share sale announcement.',
          ),
        ),
      ),
    }),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getFundHoldings = describe({
  id: 'getFundHoldings',
  group: 'fundamentals',
  title: 'Fund holdings',
  method: 'GET',
  path: '/market-data/fundamentals/fund-holdings/get',
  aliases: ['/openapi/fundamentals/fund/holdings'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      target_symbol: v.optional(v.string()),
      stock_name: v.optional(v.string()),
      share_held_pct: v.optional(v.pipe(decimal, v.description('Percent.'))),
      share_held_chg_pct: v.optional(v.pipe(decimal, v.description('Percent.'))),
      maturity_date: v.nullish(day),
      update_time: v.optional(momentOrNone),
    }),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('The ten largest holdings only.')],
  decisions: [noSourceInText, bothCategories, momentsAreIntegers, oneLimit],
});

export const getFundNetValues = describe({
  id: 'getFundNetValues',
  group: 'fundamentals',
  title: 'Fund net values',
  method: 'GET',
  path: '/market-data/fundamentals/fund-net-values/get',
  aliases: ['/openapi/fundamentals/fund/net-value'],
  query: {
    symbol,
    category,
    last_date: parameters.optional(parameters.day({ description: 'Day to continue from, yyyy-MM-dd.' })),
    count: parameters.optional(
      parameters.whole({ description: 'Number of records, 5 when absent.', minimum: 1, maximum: 20 }),
    ),
  },
  response: v.array(
    v.looseObject({
      date: v.optional(day),
      currency: v.optional(v.string()),
      net_value: v.optional(decimal),
    }),
  ),
  limit: 'market-data',
  paging: { parameter: 'last_date', next: { ofLastItem: 'date' } },
  freshness: hourly,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK', last_date: '2026-10-21', count: '1' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, oneLimit],
});

export const getFundPerformance = describe({
  id: 'getFundPerformance',
  group: 'fundamentals',
  title: 'Fund performance',
  method: 'GET',
  path: '/market-data/fundamentals/fund-performances/get',
  aliases: ['/openapi/fundamentals/fund/performance'],
  query: { symbol, category },
  response: v.looseObject({
    currency: v.optional(v.string()),
    end_date: v.optional(day),
    return_1m: v.optional(decimal),
    return_3m: v.optional(decimal),
    return_6m: v.optional(decimal),
    return_1y: v.optional(decimal),
    return_3y: v.optional(decimal),
    return_5y: v.optional(decimal),
    return_10y: v.optional(decimal),
    return_si: v.optional(v.pipe(decimal, v.description('Since launch.'))),
  }),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [inferred('Returns look like percentages; the unit is not stated.')],
  decisions: [noSourceInText, bothCategories, oneLimit],
});

export const getFundRatings = describe({
  id: 'getFundRatings',
  group: 'fundamentals',
  title: 'Fund ratings',
  method: 'GET',
  path: '/market-data/fundamentals/fund-ratings/get',
  aliases: ['/openapi/fundamentals/fund/rating'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      rating_date: v.optional(day),
      rating_agency: v.optional(v.string()),
      rating_cycle: v.optional(
        v.pipe(v.picklist(['0', '3', '5', '10']), v.description('Years, 0 since launch.')),
      ),
      rating_results: v.optional(v.pipe(ordinal, v.description('1 low to 5 high.'))),
    }),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getFundSplits = describe({
  id: 'getFundSplits',
  group: 'fundamentals',
  title: 'Fund splits',
  method: 'GET',
  path: '/market-data/fundamentals/fund-splits/get',
  aliases: ['/openapi/fundamentals/fund/splits'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      split_date: v.optional(momentOrNone),
      split_type: v.optional(v.pipe(v.string(), v.description('MERGE or SPLIT.'))),
      split_ratio: v.optional(v.pipe(v.string(), v.description('For example 1:2.'))),
      from: v.nullish(v.union([v.string(), v.number()])),
      to: v.nullish(v.union([v.string(), v.number()])),
    }),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'QQQ', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, momentsAreIntegers, ordinals, oneLimit],
});
