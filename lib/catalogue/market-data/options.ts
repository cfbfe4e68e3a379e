/** Market data of options. */

import * as v from 'valibot';
import { optionCategory, optionSymbol, optionSymbols } from '../common.ts';
import { answerSeen, momentsAreIntegers, noSourceInText, notInText, olderPath } from '../decided.ts';
import { bars, live } from '../freshness.ts';
import { onPage, seen } from '../notes.ts';
import { describe } from '../operation.ts';
import { choice, epoch, flag, optional, whole } from '../parameters.ts';
import { decimal, moment } from '../schemas.ts';

const optionBars = v.pipe(
  v.looseObject({
    symbol: v.string(),
    instrument_id: v.string(),
    result: v.array(
      v.looseObject({
        time: moment,
        open: decimal,
        close: decimal,
        high: decimal,
        low: decimal,
        volume: decimal,
      }),
    ),
  }),
  v.title('OptionBars'),
);

export const listOptionBars = describe({
  id: 'listOptionBars',
  group: 'market-data',
  title: 'Option Historical Bars',
  method: 'GET',
  path: '/market-data/options/bars/list',
  aliases: [],
  query: {
    symbols: optionSymbols(20),
    category: optionCategory,
    timespan: choice(['M1', 'M5', 'M15', 'M30', 'M60', 'M120', 'M240', 'D', 'W', 'M', 'Y'], {
      description: 'Bar length.',
    }),
    count: optional(whole({ description: 'Number of bars, 200 when absent.', minimum: 1, maximum: 1200 })),
    real_time_required: optional(flag({ description: 'Include the newest data; off when absent.' })),
    start_time: optional(epoch({ description: 'Start of the range, epoch milliseconds.' })),
    end_time: optional(epoch({ description: 'End of the range, epoch milliseconds.' })),
  },
  response: v.pipe(
    v.union([
      v.array(optionBars),
      v.pipe(v.looseObject({ result: v.array(optionBars) }), v.title('OptionBarsEnvelope')),
    ]),
    v.title('OptionBarsAnswer'),
  ),
  limit: 'market-data',
  freshness: bars,
  recordBytes: 180,
  example: {
    query: {
      symbols: 'AAPL270115C00240000',
      category: 'US_OPTION',
      timespan: 'M5',
      count: '2',
      start_time: '1792589400000',
      end_time: '1792612800000',
    },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['interface', 'vendor-sdk', 'vendor-docs'],
    response: ['observed', 'vendor-docs', 'vendor-sdk'],
  },
  notes: [
    onPage('Note the two one-letter traps in timespan: M is one month, M1 is one minute.'),
    onPage('An account with delayed data has its end_time moved back by the server.'),
  ],
  decisions: [
    noSourceInText,
    momentsAreIntegers,
    'start_time and end_time are the interface text’s. The answer is a bare array live and an object with result in the docs: the type takes both, and recordsIn of the client reads both.',
    olderPath,
  ],
});

export const listOptionTicks = describe({
  id: 'listOptionTicks',
  group: 'market-data',
  title: 'Option ticks',
  method: 'GET',
  path: '/market-data/options/ticks/list',
  aliases: ['/openapi/market-data/option/tick'],
  query: {
    symbol: optionSymbol,
    category: optionCategory,
    count: whole({ description: 'Number of ticks.', minimum: 1, maximum: 1200 }),
  },
  response: v.looseObject({
    symbol: v.string(),
    instrumentId: v.optional(v.pipe(v.string(), v.description('As seen live.'))),
    instrument_id: v.optional(v.pipe(v.string(), v.description('As the vendor documents it.'))),
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
  example: { query: { symbol: 'AAPL270115C00240000', category: 'US_OPTION', count: '1' } },
  sources: answerSeen,
  notes: [
    onPage('Newest tick first.'),
    seen('Names the instrument in instrumentId; every other answer has instrument_id.'),
  ],
  decisions: [notInText, momentsAreIntegers],
});
