/** Instruments that can be traded, and the terms of trading them. */

import * as v from 'valibot';
import { category, optionCategory, pageKey } from './common.ts';
import { fromVendor, noSourceInText, notInText, olderPath } from './decided.ts';
import { hourly } from './freshness.ts';
import { onPage } from './notes.ts';
import { cursorPaging, describe } from './operation.ts';
import * as parameters from './parameters.ts';
import { day, decimal, nextPage } from './schemas.ts';

const tradableStatuses = ['OC', 'CO', 'NT'] as const;

const subCategories = ['COMMON_STOCK', 'ETF', 'PREFERRED_STOCK', 'WARRANT', 'UNITS', 'RIGHT'] as const;

const status = v.picklist(tradableStatuses);

const subCategory = v.picklist(subCategories);

const stockInstrument = v.pipe(
  v.looseObject({
    name: v.optional(v.string()),
    instrument_id: v.string(),
    exchange_code: v.optional(v.pipe(v.string(), v.description('For example NSQ.'))),
    category: v.optional(v.string()),
    symbol: v.string(),
    status: v.optional(v.pipe(status, v.description('OC tradable, CO close only, NT not tradable.'))),
    sub_category: v.optional(subCategory),
    currency: v.optional(v.string()),
    lot_size: v.optional(decimal),
    shortable: v.optional(v.boolean()),
    fractionable: v.optional(v.boolean()),
    marginable: v.optional(v.boolean()),
    overnight_trading_supported: v.optional(v.boolean()),
    easy_to_borrow: v.optional(v.boolean()),
    margin_requirement_long: v.optional(decimal),
    margin_requirement_short: v.optional(decimal),
    intraday_margin_long: v.optional(v.pipe(decimal, v.description('Ratio.'))),
    intraday_margin_short: v.optional(v.pipe(decimal, v.description('Ratio.'))),
    maintenance_margin_long: v.optional(v.pipe(decimal, v.description('Ratio.'))),
    maintenance_margin_short: v.optional(v.pipe(decimal, v.description('Ratio.'))),
    etf_leveraged_flag: v.optional(v.string()),
    etf_leveraged_factor: v.optional(decimal),
    crypto_etf: v.optional(v.boolean()),
  }),
  v.title('StockInstrument'),
);

export const listStockInstruments = describe({
  id: 'listStockInstruments',
  group: 'instruments',
  title: 'Get Stock Instruments',
  method: 'GET',
  path: '/trading/instruments/stocks/profiles/list',
  aliases: [],
  query: {
    category: parameters.choice(['US_STOCK'], {
      description: 'Security type; ETFs are reached through sub_category.',
    }),
    symbols: parameters.optional(
      parameters.list({
        description: 'Ticker symbols; all instruments are paged through when absent.',
        maxItems: 100,
      }),
    ),
    status: parameters.optional(
      parameters.choice(tradableStatuses, { description: 'Filter by tradable status.' }),
    ),
    sub_category: parameters.optional(
      parameters.choice(subCategories, {
        description: 'Filter by sub-category; works only when symbols is absent.',
      }),
    ),
    pagination_key: pageKey,
  },
  response: v.looseObject({ data: v.optional(v.array(stockInstrument)), pagination_key: nextPage }),
  paging: cursorPaging,
  limit: 'instruments',
  freshness: hourly,
  example: { query: { category: 'US_STOCK', symbols: 'AAPL,MSFT' } },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['interface', 'vendor-sdk', 'vendor-docs'],
    response: ['interface', 'vendor-docs'],
  },
  notes: [onPage('The server sets the page size.')],
  decisions: [
    noSourceInText,
    'The interface text has a plural and a singular name without paths: the plural is the current, paged operation.',
  ],
});

export const getStockInstrument = describe({
  id: 'getStockInstrument',
  group: 'instruments',
  title: 'Get Stock Instrument',
  method: 'GET',
  path: '/openapi/instrument/stock/list',
  aliases: [],
  query: {
    symbols: parameters.optional(
      parameters.list({ description: 'Ticker symbol, or several.', maxItems: 100 }),
    ),
    category,
    status: parameters.optional(
      parameters.choice(tradableStatuses, { description: 'Filter by tradable status.' }),
    ),
    sub_category: parameters.optional(
      parameters.choice(subCategories, { description: 'Filter by sub-category.' }),
    ),
    last_instrument_id: parameters.optional(
      parameters.text({
        description: 'instrument_id of the last record of the previous page.',
        maxLength: 64,
      }),
    ),
    page_size: parameters.optional(
      parameters.whole({ description: 'Records per page, 1000 when absent.', minimum: 1, maximum: 1000 }),
    ),
  },
  response: v.array(stockInstrument),
  paging: { parameter: 'last_instrument_id', next: { ofLastItem: 'instrument_id' } },
  limit: 'instruments',
  freshness: hourly,
  example: { query: { symbols: 'AAPL', category: 'US_STOCK' } },
  sources: {
    path: ['vendor-sdk', 'inferred'],
    request: ['vendor-sdk'],
    response: ['interface', 'vendor-sdk', 'vendor-docs'],
  },
  decisions: [
    noSourceInText,
    'The interface text has a plural and a singular name without paths: the singular is taken to be the older operation that answers a bare array of the same records.',
  ],
  deprecated: 'The vendor’s SDK has moved to listStockInstruments.',
});

export const listOptionContracts = describe({
  id: 'listOptionContracts',
  group: 'instruments',
  title: 'Option contracts',
  method: 'GET',
  path: '/trading/instruments/options/contracts/list',
  aliases: [],
  query: {
    category: optionCategory,
    option_symbols: parameters.optional(parameters.list({ description: 'OCC-style option symbols.' })),
    underlying_symbols: parameters.optional(parameters.list({ description: 'Symbols of the underlying.' })),
    status: parameters.optional(
      parameters.choice(['LISTING', 'DELISTING'], { description: 'Contract status, LISTING when absent.' }),
    ),
    start_date: parameters.optional(parameters.day({ description: 'Exact expiration day, yyyy-MM-dd.' })),
    end_date: parameters.optional(
      parameters.day({ description: 'Earliest expiration day, inclusive, yyyy-MM-dd.' }),
    ),
    root_symbol: parameters.optional(
      parameters.text({ description: 'Series symbol, for index and adjusted contracts.', maxLength: 64 }),
    ),
    option_type: parameters.optional(parameters.choice(['CALL', 'PUT'], { description: 'Call or put.' })),
    style: parameters.optional(
      parameters.choice(['AMERICAN', 'EUROPEAN'], { description: 'Exercise style.' }),
    ),
    strike_price_gte: parameters.optional(parameters.decimal({ description: 'Lowest strike, inclusive.' })),
    strike_price_lte: parameters.optional(parameters.decimal({ description: 'Highest strike, inclusive.' })),
    ppind: parameters.optional(parameters.flag({ description: 'Penny program only, or not.' })),
    show_deliverables: parameters.optional(
      parameters.flag({ description: 'Add the deliverables array; off when absent.' }),
    ),
    pagination_key: pageKey,
  },
  response: v.looseObject({
    data: v.optional(
      v.array(
        v.looseObject({
          instrument_id: v.optional(v.string()),
          symbol: v.optional(v.string()),
          name: v.optional(v.string()),
          status: v.optional(v.picklist(['LISTING', 'DELISTING'])),
          tradable_status: v.optional(status),
          expiration_date: v.optional(day),
          root_symbol: v.optional(v.string()),
          underlying_symbol: v.optional(v.string()),
          underlying_instrument_id: v.optional(v.string()),
          underlying_type: v.optional(
            v.pipe(
              v.string(),
              v.description('For example EQUITY_CALL_OPTION, ETF_PUT_OPTION, INDEX_CALL_OPTION.'),
            ),
          ),
          option_type: v.optional(v.picklist(['CALL', 'PUT'])),
          style: v.optional(v.picklist(['AMERICAN', 'EUROPEAN'])),
          strike_price: v.optional(decimal),
          multiplier: v.optional(decimal),
          settlement_method: v.optional(v.picklist(['PHYSICAL', 'CASH'])),
          expired_cycle: v.optional(v.picklist(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'EOM'])),
          ppind: v.optional(v.boolean()),
          currency: v.optional(v.string()),
          def_type: v.optional(v.picklist(['STANDARD', 'BINARY', 'FLEX'])),
          listed_exchanges: v.optional(v.array(v.string())),
          deliverables: v.optional(
            v.array(
              v.looseObject({
                asset_type: v.optional(v.picklist(['EQUITY', 'CASH'])),
                symbol: v.optional(v.string()),
                instrument_id: v.optional(v.string()),
                amount: v.optional(decimal),
                allocation_percentage: v.optional(decimal),
                settlement_type: v.optional(v.picklist(['T_0', 'T_1', 'T_2', 'T_3', 'T_4'])),
                settlement_method: v.optional(v.string()),
                settlement_status: v.optional(v.picklist(['DELAYED', 'REGULAR'])),
              }),
            ),
          ),
        }),
      ),
    ),
    pagination_key: nextPage,
  }),
  paging: cursorPaging,
  limit: 'instruments',
  freshness: hourly,
  example: {
    query: {
      category: 'US_OPTION',
      underlying_symbols: 'AAPL',
      option_type: 'CALL',
      end_date: '2027-01-01',
      strike_price_gte: '230',
      strike_price_lte: '250',
    },
  },
  sources: fromVendor,
  decisions: [
    notInText,
    'The docs call start_date the exact expiry and end_date the earliest, which does not fit the names: both are passed on as they come.',
    olderPath,
  ],
});
