/** Market data: snapshots, bars, depth and ticks. */

import * as v from 'valibot';
import { inGroup } from './operation.ts';
import { choice, flag, list, optional } from './parameters.ts';
import { decimal, epochMilliseconds } from './schemas.ts';

const operation = inGroup('market-data');

/** Asset categories of market data (interface, section "Asset category"). */
const category = choice(['US_STOCK', 'US_ETF'], {
  description: 'Asset category of all symbols of the call.',
});

export const getStockSnapshots = operation({
  id: 'getStockSnapshots',
  title: 'Stock snapshot',
  method: 'GET',
  path: '/openapi/market-data/stock/snapshot',
  aliases: ['/market-data/stocks/snapshots/list'],
  query: {
    symbols: list({ description: 'Ticker symbols.', maxItems: 100 }),
    category,
    extend_hour_required: optional(
      flag({ description: 'Adds pre-market and after-hours fields; off when absent.' }),
    ),
    overnight_required: optional(flag({ description: 'Adds overnight fields; off when absent.' })),
  },
  response: v.array(
    v.looseObject({
      symbol: v.string(),
      instrument_id: v.optional(v.string()),
      price: v.optional(decimal),
      open: v.nullish(decimal),
      high: v.nullish(decimal),
      low: v.nullish(decimal),
      volume: v.nullish(decimal),
      change: v.nullish(decimal),
      change_ratio: v.optional(decimal),
      pre_close: v.optional(decimal),
      last_trade_time: v.optional(epochMilliseconds),
      close: v.optional(decimal),
      ask: v.optional(decimal),
      ask_size: v.optional(decimal),
      bid: v.optional(decimal),
      bid_size: v.optional(decimal),
      turnover: v.optional(decimal),
      eps: v.optional(decimal),
      eps_ttm: v.optional(decimal),
      lot_size: v.optional(decimal),
      bps: v.optional(decimal),
      extend_hour_last_price: v.optional(decimal),
      extend_hour_high: v.optional(decimal),
      extend_hour_low: v.optional(decimal),
      extend_hour_change: v.optional(decimal),
      extend_hour_change_ratio: v.optional(decimal),
      extend_hour_volume: v.optional(decimal),
      extend_hour_last_trade_time: v.optional(epochMilliseconds),
      ovn_price: v.optional(decimal),
      ovn_high: v.optional(decimal),
      ovn_low: v.optional(decimal),
      ovn_volume: v.optional(decimal),
      ovn_change: v.optional(decimal),
      ovn_change_ratio: v.optional(decimal),
      ovn_last_trade_time: v.optional(epochMilliseconds),
      ovn_ask: v.optional(decimal),
      ovn_ask_size: v.optional(decimal),
      ovn_bid: v.optional(decimal),
      ovn_bid_size: v.optional(decimal),
      trading_session: v.optional(v.string()),
      quote_time: v.optional(epochMilliseconds),
    }),
  ),
  limit: 'market-data',
  sources: {
    path: ['interface'],
    request: ['interface', 'vendor-sdk', 'vendor-docs'],
    response: ['interface', 'vendor-docs', 'vendor-sdk'],
  },
  decisions: [
    'The interface text shows a path of the older family and wins; the current version’s path is the alias.',
    'Both categories are accepted, as the interface text has them; one category per call.',
  ],
});
