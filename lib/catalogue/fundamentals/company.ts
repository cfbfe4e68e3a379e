/** Fundamentals of a company: profile, analysts, forecasts, flows and peers. */

import * as v from 'valibot';
import { category, symbol } from '../common.ts';
import {
  answerSeen,
  bothCategories,
  fromVendor,
  momentsAreIntegers,
  noSourceInText,
  oneLimit,
  ordinals,
} from '../decided.ts';
import { daily, hourly } from '../freshness.ts';
import { onPage, seen } from '../notes.ts';
import { describe } from '../operation.ts';
import { choice, optional, whole } from '../parameters.ts';
import { compactDay, day, decimal, momentOrNone, ordinal } from '../schemas.ts';

export const getCompanyProfile = describe({
  id: 'getCompanyProfile',
  group: 'fundamentals',
  title: 'Company Profile',
  method: 'GET',
  path: '/market-data/fundamentals/company-profiles/get',
  aliases: ['/openapi/instrument/company/profile'],
  query: { symbol, category },
  response: v.looseObject({
    symbol: v.optional(v.string()),
    category: v.optional(v.string()),
    company_name: v.optional(v.string()),
    establish_date: v.optional(day),
    exhibition_code: v.optional(v.pipe(v.string(), v.description('Market the security is shown under.'))),
    profile: v.optional(v.string()),
    employees: v.optional(v.pipe(decimal, v.description('Count as text.'))),
    address: v.optional(v.string()),
    ceo: v.optional(v.string()),
    industries: v.optional(v.array(v.string())),
  }),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories],
});

export const getAnalystTargetPrice = describe({
  id: 'getAnalystTargetPrice',
  group: 'fundamentals',
  title: 'Analyst Target Price',
  method: 'GET',
  path: '/market-data/fundamentals/analysis/target-prices/get',
  aliases: ['/openapi/instrument/analyst/target-price'],
  query: { symbol, category },
  response: v.looseObject({
    symbol: v.optional(v.string()),
    category: v.optional(v.string()),
    mean: v.optional(decimal),
    low: v.optional(decimal),
    high: v.optional(decimal),
    median: v.optional(decimal),
    currency: v.optional(v.string()),
    effective_start_date: v.optional(momentOrNone),
  }),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, momentsAreIntegers],
});

export const getAnalystRating = describe({
  id: 'getAnalystRating',
  group: 'fundamentals',
  title: 'Analyst Rating',
  method: 'GET',
  path: '/market-data/fundamentals/analysis/ratings/get',
  aliases: ['/openapi/instrument/analyst/rating'],
  query: { symbol, category },
  response: v.looseObject({
    symbol: v.optional(v.string()),
    category: v.optional(v.string()),
    number: v.optional(v.pipe(decimal, v.description('Number of analysts.'))),
    strong_buy: v.optional(decimal),
    buy: v.optional(decimal),
    hold: v.optional(decimal),
    under_perform: v.optional(decimal),
    sell: v.optional(decimal),
    effective_start_date: v.optional(momentOrNone),
  }),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('All counts are text.')],
  decisions: [noSourceInText, bothCategories, momentsAreIntegers],
});

export const getForecastEps = describe({
  id: 'getForecastEps',
  group: 'fundamentals',
  title: 'Forecast EPS',
  method: 'GET',
  path: '/market-data/fundamentals/forecast-eps/get',
  aliases: ['/openapi/fundamentals/stock/forecast-eps'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      fiscal_year: v.optional(ordinal),
      fiscal_period: v.optional(v.pipe(ordinal, v.description('Quarter number.'))),
      actual: v.optional(decimal),
      est: v.optional(decimal),
      reported: v.optional(v.boolean()),
    }),
  ),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [
    onPage('At most five records, oldest first: four reported periods and the next forecast.'),
    onPage('actual is missing until the period is reported.'),
  ],
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getCapitalFlow = describe({
  id: 'getCapitalFlow',
  group: 'fundamentals',
  title: 'Capital flow',
  method: 'GET',
  path: '/market-data/fundamentals/capital-flows/get',
  aliases: ['/openapi/fundamentals/stock/capital-flow'],
  query: {
    symbol,
    category,
    count: optional(whole({ description: 'Number of trading days, 5 when absent.', minimum: 1, maximum: 5 })),
  },
  response: v.array(
    v.looseObject({
      date: v.optional(v.pipe(compactDay, v.description('yyyyMMdd, unlike every other date.'))),
      large_in: v.optional(decimal),
      large_out: v.optional(decimal),
      medium_in: v.optional(decimal),
      medium_out: v.optional(decimal),
      small_in: v.optional(decimal),
      small_out: v.optional(decimal),
    }),
  ),
  limit: 'market-data',
  freshness: { seconds: 60, staleSeconds: 240 },
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', count: '1' } },
  sources: answerSeen,
  notes: [
    onPage('Oldest day first.'),
    seen('The date has no dashes: toDay and toDate of the client take it.'),
  ],
  decisions: [noSourceInText, bothCategories, oneLimit],
});

export const getIndustryComparison = describe({
  id: 'getIndustryComparison',
  group: 'fundamentals',
  title: 'Industry comparison',
  method: 'GET',
  path: '/market-data/fundamentals/industry-comparisons/get',
  aliases: ['/openapi/fundamentals/stock/industry-comparison'],
  query: {
    symbol,
    category,
    sort_by: optional(
      choice(
        [
          'EPS_TTM',
          'NAPS',
          'DPS_TTM',
          'ROE',
          'DEBT_TO_ASSETS',
          'NET_MARGIN',
          'DIV_YIELD_TTM',
          'PE_TTM',
          'PB_RATIO',
        ],
        { description: 'Measure, EPS_TTM when absent.' },
      ),
    ),
  },
  response: v.looseObject({
    fiscal_year: v.optional(ordinal),
    fiscal_period: v.optional(ordinal),
    industry_name: v.optional(v.string()),
    type: v.optional(v.pipe(v.string(), v.description('Measure the list is sorted by.'))),
    data: v.optional(
      v.array(
        v.looseObject({
          symbol: v.optional(v.string()),
          name: v.optional(v.string()),
          rank: v.optional(ordinal),
          value: v.optional(decimal),
        }),
      ),
    ),
  }),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', sort_by: 'EPS_TTM' } },
  sources: fromVendor,
  notes: [onPage('Up to 20 companies, the asked one among them.')],
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});
