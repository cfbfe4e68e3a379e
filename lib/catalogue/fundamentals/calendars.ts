/** Filings, calendars and announcements of a company. */

import * as v from 'valibot';
import { category, symbol } from '../common.ts';
import { bothCategories, fromVendor, noSourceInText, oneLimit, ordinals } from '../decided.ts';
import { hourly } from '../freshness.ts';
import { onPage } from '../notes.ts';
import { describe } from '../operation.ts';
import { day, decimal, ordinal, url } from '../schemas.ts';

export const listFilings = describe({
  id: 'listFilings',
  group: 'fundamentals',
  title: 'Filings',
  method: 'GET',
  path: '/market-data/fundamentals/filings/list',
  aliases: ['/openapi/fundamentals/stock/filings'],
  query: { symbol, category },
  response: v.looseObject({
    symbol: v.optional(v.string()),
    category: v.optional(v.string()),
    filings: v.optional(
      v.array(
        v.looseObject({ title: v.optional(v.string()), url: v.optional(url), publish_date: v.optional(day) }),
      ),
    ),
  }),
  limit: 'market-data',
  freshness: { seconds: 300, staleSeconds: 900 },
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  decisions: [
    noSourceInText,
    bothCategories,
    oneLimit,
    'How far back this reaches is told in years by the SDK and in records by the docs: nothing is assumed.',
  ],
});

export const listEarningsCalendar = describe({
  id: 'listEarningsCalendar',
  group: 'fundamentals',
  title: 'Earnings calendar',
  method: 'GET',
  path: '/market-data/fundamentals/earnings-calendars/list',
  aliases: ['/openapi/fundamentals/stock/earnings-calendar'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      fiscal_year: v.optional(ordinal),
      fiscal_period: v.optional(ordinal),
      currency: v.optional(v.string()),
      expected_publish_date: v.optional(day),
      eps_actual: v.optional(decimal),
      eps_est: v.optional(decimal),
      rev_actual: v.optional(decimal),
      rev_est: v.optional(decimal),
    }),
  ),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('Oldest first.'), onPage('A missing eps_actual marks a report that is still to come.')],
  decisions: [
    noSourceInText,
    bothCategories,
    ordinals,
    oneLimit,
    'How far this reaches is told in months by the SDK and in records by the docs: nothing is assumed.',
  ],
});

export const listDividendCalendar = describe({
  id: 'listDividendCalendar',
  group: 'fundamentals',
  title: 'Dividend calendar',
  method: 'GET',
  path: '/market-data/fundamentals/dividend-calendars/list',
  aliases: ['/openapi/fundamentals/stock/dividend-calendar'],
  query: { symbol, category },
  response: v.array(
    v.looseObject({
      symbol: v.optional(v.string()),
      market: v.optional(v.string()),
      currency: v.optional(v.string()),
      amount: v.optional(decimal),
      div_type: v.optional(
        v.picklist([
          'CASH_DIVIDEND',
          'STOCK_DIVIDEND',
          'SCRIP_DIVIDEND',
          'RETURN_OF_CAPITAL',
          'INTEREST_PRINCIPAL_PAYMENT',
          'DIVIDEND_REINVESTMENT',
          'TRUST_INCOME_DISTRIBUTION',
        ]),
      ),
      declare_date: v.optional(day),
      ex_div_date: v.optional(day),
      record_date: v.optional(day),
      pay_date: v.optional(day),
    }),
  ),
  limit: 'market-data',
  freshness: hourly,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('Oldest first.')],
  decisions: [
    noSourceInText,
    bothCategories,
    oneLimit,
    'How far this reaches is told in months by the SDK and in records by the docs: nothing is assumed.',
  ],
});

export const getFinancialAlert = describe({
  id: 'getFinancialAlert',
  group: 'fundamentals',
  title: 'Alert',
  method: 'GET',
  path: '/market-data/fundamentals/financial-alerts/get',
  aliases: ['/openapi/fundamentals/financial/alert'],
  query: { symbol, category },
  response: v.looseObject({
    start_date: v.optional(day),
    end_date: v.optional(day),
    fiscal_year: v.optional(ordinal),
    fiscal_period: v.optional(v.pipe(ordinal, v.description('1 to 4 quarters, 5 pre-release.'))),
    currency: v.optional(v.string()),
    eps_est: v.optional(decimal),
    eps_ly: v.optional(v.pipe(decimal, v.description('Same period a year before.'))),
    rev_est: v.optional(decimal),
    rev_ly: v.optional(v.pipe(decimal, v.description('Same period a year before.'))),
  }),
  limit: 'market-data',
  freshness: { seconds: 60, staleSeconds: 240 },
  example: { query: { symbol: 'AAPL', category: 'US_STOCK' } },
  sources: fromVendor,
  notes: [onPage('Tells of the next earnings release.')],
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});
