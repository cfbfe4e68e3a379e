/** Snapshots of option contracts: in a separate file, because the function that checks orders needs no bars and ticks. */

import * as v from 'valibot';
import { optionCategory, optionSymbols } from '../common.ts';
import { answerSeen, momentsAreIntegers, notInText } from '../decided.ts';
import { live } from '../freshness.ts';
import { onPage, seen } from '../notes.ts';
import { describe } from '../operation.ts';
import { decimal, momentOrNone } from '../schemas.ts';

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
      open: v.optional(decimal),
      high: v.optional(decimal),
      low: v.optional(decimal),
      close: v.optional(decimal),
      pre_close: v.optional(decimal),
      volume: v.optional(decimal),
      change: v.optional(decimal),
      change_ratio: v.optional(decimal),
      last_trade_time: v.optional(momentOrNone),
      quote_time: v.optional(momentOrNone),
      bid: v.optional(decimal),
      ask: v.optional(decimal),
      bid_size: v.optional(decimal),
      ask_size: v.optional(decimal),
      deal_amount: v.optional(decimal),
      strike_price: v.optional(decimal),
      imp_vol: v.optional(decimal),
      open_interest: v.optional(decimal),
      gamma: v.optional(decimal),
      delta: v.optional(decimal),
      theta: v.optional(decimal),
      vega: v.optional(decimal),
      rho: v.optional(decimal),
    }),
  ),
  limit: 'market-data',
  freshness: live,
  example: { query: { symbols: 'AAPL270115C00240000,MSFT270115P00500000', category: 'US_OPTION' } },
  sources: answerSeen,
  notes: [
    onPage('Fields that need a trade in the session may be empty.'),
    seen('Outside market hours the greeks are "" or null.'),
  ],
  decisions: [notInText, momentsAreIntegers],
});
