/** Snapshots: the latest figures of one symbol, or of up to a hundred. */

import * as v from 'valibot';
import { category, symbols } from '../common.ts';
import { bothCategories } from '../decided.ts';
import { onPage, seen } from '../notes.ts';
import { describe } from '../operation.ts';
import { flag, optional } from '../parameters.ts';
import { decimal, decimalText, epochMilliseconds, ordinal } from '../schemas.ts';

export const getStockSnapshots = describe({
  id: 'getStockSnapshots',
  group: 'market-data',
  title: 'Stock snapshot',
  method: 'GET',
  path: '/openapi/market-data/stock/snapshot',
  aliases: ['/market-data/stocks/snapshots/list', '/market-data/snapshot'],
  query: {
    symbols: symbols(100),
    category,
    extend_hour_required: optional(
      flag({ description: 'Add pre-market and after-hours fields; off when absent.' }),
    ),
    overnight_required: optional(flag({ description: 'Add overnight fields; off when absent.' })),
  },
  response: v.array(
    v.looseObject({
      symbol: v.string(),
      instrument_id: v.optional(v.string()),
      // Members that the interface text names are text; some are absent on a day without a trade.
      price: v.optional(decimalText),
      open: v.optional(decimal),
      high: v.optional(decimal),
      low: v.optional(decimal),
      volume: v.optional(decimal),
      change: v.optional(decimal),
      change_ratio: v.optional(v.pipe(decimalText, v.description('Ratio, not percent.'))),
      pre_close: v.optional(decimalText),
      last_trade_time: v.optional(epochMilliseconds),
      close: v.optional(decimal),
      ask: v.optional(decimal),
      ask_size: v.optional(decimal),
      bid: v.optional(decimal),
      bid_size: v.optional(decimal),
      turnover: v.optional(v.pipe(decimal, v.description('Turnover rate.'))),
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
      extend_hour_last_trade_time: v.nullish(epochMilliseconds),
      ovn_price: v.optional(decimal),
      ovn_high: v.optional(decimal),
      ovn_low: v.optional(decimal),
      ovn_volume: v.optional(decimal),
      ovn_change: v.optional(decimal),
      ovn_change_ratio: v.optional(decimal),
      ovn_last_trade_time: v.nullish(epochMilliseconds),
      ovn_ask: v.optional(decimal),
      ovn_ask_size: v.optional(decimal),
      ovn_bid: v.optional(decimal),
      ovn_bid_size: v.optional(decimal),
      trading_session: v.optional(v.string()),
      quote_time: v.nullish(epochMilliseconds),
      // The members below were seen live, and are in no document.
      pe_ratio: v.optional(decimal),
      pb_ratio: v.optional(decimal),
      ps_ratio: v.optional(decimal),
      yield: v.optional(decimal),
      market_value: v.optional(decimal),
      neg_market_value: v.optional(decimal),
      total_shares: v.optional(decimal),
      out_standing_shares: v.optional(decimal),
      fifty_two_wk_high: v.optional(decimal),
      fifty_two_wk_low: v.optional(decimal),
      list_status: v.optional(ordinal),
    }),
  ),
  limit: 'market-data',
  freshness: 'by-symbol',
  hasAccountPartition: true,
  example: {
    query: {
      symbols: 'AAPL,MSFT',
      category: 'US_STOCK',
      extend_hour_required: 'true',
      overnight_required: 'false',
    },
  },
  sources: {
    path: ['interface'],
    request: ['interface', 'vendor-sdk', 'vendor-docs'],
    response: ['interface', 'observed', 'vendor-docs', 'vendor-sdk'],
  },
  notes: [
    seen('Existing clients also ask /market-data/snapshot: that it takes and answers the same is inferred.'),
    onPage('open, high, low, volume and change are missing when the symbol did not trade that day.'),
    onPage('One category per call: stocks and ETFs cannot be mixed in one request.'),
    onPage('extend_hour_* and ovn_* fields appear only when asked for.'),
    seen('Has members that no document names, from pe_ratio to list_status.'),
  ],
  decisions: [
    'The interface text shows a path of the older family and wins; the current version’s path is the alias.',
    bothCategories,
  ],
});
