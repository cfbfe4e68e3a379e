/** One order against one set of limits: each check at its bound, and one smallest step beyond it. */

import type { CheckName, TradingLimits } from '../../lib/guard-rails/index.ts';
import { newOrder } from '../support/orders.ts';

export interface Case {
  readonly name: string;
  readonly limits: TradingLimits;
  readonly order: Readonly<Record<string, unknown>>;
  /** What AAPL was last traded at; absent: no fresh price is known. */
  readonly last?: string;
  /** The checks that it fails. */
  readonly fails: readonly CheckName[];
}

type Given = Readonly<Record<string, unknown>>;

const limited = (limit_price: string, quantity: string, more: Given = {}) => ({
  order_type: 'LIMIT',
  limit_price,
  quantity,
  ...more,
});

/** One check, with orders that pass and orders that fail. */
function around(
  check: CheckName,
  limits: TradingLimits,
  {
    last,
    passes,
    fails,
  }: { readonly last?: string; readonly passes: readonly Given[]; readonly fails: readonly Given[] },
): readonly Case[] {
  const caseOf = (failing: readonly CheckName[]) => (given: Given) => ({
    name: `${JSON.stringify(limits)} last ${last}: ${JSON.stringify(given)}`,
    limits,
    order: newOrder(given),
    ...(last !== undefined && { last }),
    fails: failing,
  });
  return [...passes.map(caseOf([])), ...fails.map(caseOf([check]))];
}

const leg = { side: 'SELL', market: 'US', instrument_type: 'OPTION', symbol: 'msft', quantity: '1' };
const manyOfLeg = { ...leg, side: 'BUY', symbol: 'AAPL', quantity: '11' };

const quantities = (...texts: readonly string[]) => texts.map((quantity) => limited('1.00', quantity));

const ofQuantity = [
  ...['10', '10.0', '1E1', '+10.00000000'].flatMap((limit) =>
    around(
      'max_order_quantity',
      { max_order_quantity: limit },
      {
        passes: quantities('10', '10.0', '10.00000000', '1E1', '9.99999999', '0.00000001', '1e-8'),
        fails: quantities('10.00000001', '10.1', '11', '1.000000001E1', '1e999', '1e1001', '-10.00000001'),
      },
    ),
  ),
  ...around(
    'max_order_quantity',
    { max_order_quantity: '9.99999999' },
    { passes: quantities('9.99999999', '9.999999990'), fails: quantities('10', '9.999999991') },
  ),
  ...around(
    'max_order_quantity',
    { max_order_quantity: '10' },
    {
      passes: [],
      fails: [
        { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '1' },
        limited('1.00', `10.${'0'.repeat(120)}1`),
        {
          ...limited('1.00', '1'),
          instrument_type: 'OPTION',
          legs: [manyOfLeg],
        },
      ],
    },
  ),
];

const stockLeg = { ...leg, instrument_type: 'EQUITY', quantity: '100' };
const option = { instrument_type: 'OPTION', option_strategy: 'SINGLE', symbol: 'AAPL290119C00240000' };

const ofNotional = [
  ...around(
    'max_order_notional',
    { max_order_notional: '1000' },
    {
      last: '100',
      passes: [
        limited('100', '10'),
        limited('99.99999999', '10'),
        limited('333.33333333', '3'),
        limited('1e2', '1e1', { order_type: 'STOP_LOSS_LIMIT', stop_price: '500' }),
        limited('100', '10', { order_type: 'LIMIT_ON_OPEN' }),
        { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '1000.0' },
        limited('1', '10', option),
        limited('100', '10', { instrument_type: 'CRYPTO' }),
        { quantity: '9.52380952' },
        limited('0', '9.52380952'),
      ],
      fails: [
        limited('0', '9.52380953'),
        ...['EQUITY', 'CRYPTO', 'EVENT', 'FUTURES'].flatMap((instrument_type) =>
          [option.symbol, option.symbol.toLowerCase(), 'AAPL  290119C00240000'].map((symbol) =>
            limited('5', '100', { instrument_type, symbol }),
          ),
        ),
        limited('5', '1', { ...option, legs: [{ ...stockLeg, symbol: option.symbol }] }),
        limited('-1', '10'),
        limited('100.00000001', '10'),
        limited('100', '10.00000001'),
        limited('333.33333334', '3'),
        limited('100.00000001', '10', { order_type: 'STOP_LOSS_LIMIT', stop_price: '1' }),
        limited('100', '11', { entrust_type: 'AMOUNT', total_cash_amount: '1' }),
        limited('100', '1', { entrust_type: 'AMOUNT', total_cash_amount: '1000.01' }),
        limited('1', '1e1001', { ...option, legs: [{ ...leg, side: 'BUY', symbol: option.symbol }] }),
        // A counter would keep each of their digits.
        limited(`0.${'0'.repeat(120)}1`, '1'),
        limited('1', '1e-150'),
        limited('1', `1.${'0'.repeat(200)}`),
        { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '1000.00000001' },
        { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '-1000.00000001' },
        { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '1e1001' },
        limited('1.00000001', '10', option),
        limited('-1.00000001', '10', option),
        limited('1', '10.00000001', option),
        limited('1', '1', { ...option, legs: [manyOfLeg] }),
        limited('100.00000001', '10', { instrument_type: 'CRYPTO' }),
        limited('0.01', '1', { instrument_type: 'FUTURES' }),
        // Of options no last price is known.
        { quantity: '1', ...option },
        { quantity: '9.52380953' },
        limited('1e999', '1e999'),
        limited('1e1001', '1'),
        limited(`1.${'0'.repeat(200)}1`, '1'),
      ],
    },
  ),
  ...around(
    'max_order_notional',
    { max_order_notional: '1050' },
    {
      last: '100.0',
      passes: [
        { quantity: '10' },
        { order_type: 'STOP_LOSS', stop_price: '100', quantity: '10' },
        { order_type: 'STOP_LOSS', stop_price: '1', quantity: '10' },
        { order_type: 'STOP_LOSS', stop_price: '200', quantity: '5' },
        { order_type: 'TRAILING_STOP_LOSS', trailing_stop_step: '1', quantity: '10' },
      ],
      fails: [
        { quantity: '10.00000001' },
        { order_type: 'STOP_LOSS', stop_price: '100.00000001', quantity: '10' },
        { order_type: 'STOP_LOSS', stop_price: '1', quantity: '10.00000001' },
        { order_type: 'STOP_LOSS', stop_price: '200', quantity: '5.00000001' },
        { order_type: 'MARKET_ON_OPEN', quantity: '11' },
      ],
    },
  ),
  ...around(
    'max_order_notional',
    { max_order_notional: '1100', market_order_margin: '10' },
    { last: '100', passes: [{ quantity: '10' }], fails: [{ quantity: '10.00000001' }] },
  ),
  ...[undefined, '0', '0.00'].flatMap((last) =>
    around(
      'max_order_notional',
      { max_order_notional: '1000000' },
      {
        ...(last !== undefined && { last }),
        passes: [limited('1', '1'), { entrust_type: 'AMOUNT', quantity: null, total_cash_amount: '5' }],
        fails: [{ quantity: '0.00000001' }, { order_type: 'STOP_LOSS', stop_price: '1', quantity: '1' }],
      },
    ),
  ),
];

const spread = { ...limited('1', '1', option), legs: [{ ...leg, side: 'BUY', symbol: 'AAPL' }, leg] };

const ofLists = [
  ...around(
    'allowed_symbols',
    { allowed_symbols: ['aapl', 'BRK.B'] },
    {
      passes: [{ symbol: 'AAPL' }, { symbol: 'aapl' }, { symbol: 'brk.b' }],
      fails: [{ symbol: 'MSFT' }, { symbol: 'AAP' }, { symbol: 'AAPL ' }, { symbol: 'BRKB' }, spread],
    },
  ),
  ...around('allowed_symbols', { allowed_symbols: [] }, { passes: [], fails: [{ symbol: 'AAPL' }] }),
  ...around(
    'restricted_symbols',
    { restricted_symbols: ['Msft', 'BRK.B'] },
    {
      passes: [{ symbol: 'AAPL' }, { symbol: 'MSFTX' }, { symbol: 'BRK.A' }],
      fails: ['MSFT', 'msft', 'MSFT ', 'BRK.B', 'BRK B', 'brk-b', 'BRKB']
        .map((symbol) => ({ symbol }))
        .concat(spread as never),
    },
  ),
  ...around(
    'allowed_sides',
    { allowed_sides: ['BUY'] },
    { passes: [{ side: 'BUY' }], fails: [{ side: 'SELL' }, { side: 'SHORT' }, spread] },
  ),
  ...around(
    'allowed_order_types',
    { allowed_order_types: ['LIMIT', 'STOP_LOSS'] },
    {
      passes: [limited('1', '1'), { order_type: 'STOP_LOSS', stop_price: '1' }],
      fails: [{}, limited('1', '1', { order_type: 'STOP_LOSS_LIMIT' })],
    },
  ),
  ...around(
    'allowed_sessions',
    { allowed_sessions: ['CORE'] },
    {
      passes: [{}, { support_trading_session: null }],
      fails: [{ support_trading_session: 'ALL' }, { support_trading_session: 'NIGHT' }],
    },
  ),
];

const stop = (stop_price: string) => ({ order_type: 'STOP_LOSS', stop_price });

const sale = (price: string, quantity: string) => limited(price, quantity, { side: 'SHORT' });

/** A sale brings what the market pays, however low its limit. */
const ofSales = [
  ...around(
    'max_order_notional',
    { max_order_notional: '1000' },
    {
      last: '100',
      passes: [sale('1', '9.52380952'), sale('125', '8')],
      fails: [sale('1', '9.52380953'), sale('125', '8.1'), limited('1', '1', { ...option, side: 'SELL' })],
    },
  ),
  ...around(
    'max_order_notional',
    { max_order_notional: '1000' },
    { passes: [], fails: [sale('1', '1'), limited('1', '1', { instrument_type: 'CRYPTO', side: 'SELL' })] },
  ),
];

const ofCollar = [
  ...around(
    'price_collar',
    { price_collar: '10' },
    {
      last: '100',
      passes: [
        ...['110', '110.00000000', '90', '100', '1.1e2'].map((price) => limited(price, '1')),
        stop('110'),
        stop('90.0'),
        { order_type: 'MARKET' },
        // No last price is read of what is no stock.
        limited('1', '1', option),
      ],
      fails: [
        ...['110.00000001', '89.99999999', '-100', '1e999', '1e1001', '0'].map((price) =>
          limited(price, '1'),
        ),
        stop('110.00000001'),
        stop('89.99999999'),
        limited('100', '1', { order_type: 'STOP_LOSS_LIMIT', stop_price: '110.00000001' }),
        { order_type: 'MARKET', limit_price: '1' },
        { order_type: 'LIMIT' },
      ],
    },
  ),
  ...around(
    'price_collar',
    { price_collar: '0.5' },
    {
      last: '0.2',
      passes: [limited('0.201', '1'), limited('0.199', '1')],
      fails: [limited('0.20100001', '1'), limited('0.19899999', '1')],
    },
  ),
  ...around(
    'price_collar',
    { price_collar: '10' },
    { passes: [{}], fails: [limited('100', '1'), stop('100')] },
  ),
];

const nothingAtTop = { instrument_type: undefined, symbol: undefined, market: undefined };
const byAmount = (total_cash_amount: string) => ({
  quantity: undefined,
  entrust_type: 'AMOUNT',
  total_cash_amount,
});
const call = { ...leg, side: 'BUY', symbol: 'AAPL290119C00240000' };

/** Forms that clients send, each read as what it is and as nothing else. */
const ofForms: readonly Case[] = [
  ...around(
    'max_order_notional',
    { max_order_notional: '1000' },
    {
      last: '5',
      passes: [
        limited('5', '2', { ...nothingAtTop, legs: [call] }),
        limited('0.9', '1000', { side: 'SELL', instrument_type: 'EVENT', event_outcome: 'no' }),
        limited('0.1', '1000', { instrument_type: 'EVENT', event_outcome: 'no' }),
        limited('0.1', '10000', { instrument_type: 'EVENT', event_outcome: 'yes' }),
        { quantity: '1000', instrument_type: 'EVENT', event_outcome: 'yes' },
      ],
      fails: [
        limited('5', '2.01', { ...nothingAtTop, legs: [call] }),
        { ...nothingAtTop, quantity: '2', legs: [call] },
        // A symbol at the top could be a stock.
        limited('5', '2', { instrument_type: undefined, legs: [call] }),
        limited('5', '2', { ...nothingAtTop, legs: [{ ...call, instrument_type: 'EQUITY' }] }),
        limited('5', '2', nothingAtTop),
        limited('0.1', '1000.01', { instrument_type: 'EVENT', event_outcome: 'no' }),
        { side: 'SELL', instrument_type: 'EVENT', event_outcome: 'yes', ...byAmount('1') },
        limited('0.9', '1000.01', { side: 'SELL', instrument_type: 'EVENT', event_outcome: 'no' }),
        limited('1.1', '1000', { side: 'SELL', instrument_type: 'EVENT', event_outcome: 'no' }),
        limited('0.9', '1', { side: 'SELL', instrument_type: 'EVENT' }),
        limited('0.9', '1', { side: 'SELL', instrument_type: 'EVENT', event_outcome: 'no', legs: [leg] }),
        limited('0.9', '1', { side: 'SELL', instrument_type: 'FUTURES', event_outcome: 'no' }),
        limited('0.9', '1', { side: 'SELL', instrument_type: 'CRYPTO', event_outcome: 'no' }),
      ],
    },
  ),
  ...around(
    'allowed_symbols',
    { allowed_symbols: ['AAPL290119C00240000'] },
    { passes: [limited('1', '1', { ...nothingAtTop, legs: [call] })], fails: [{}] },
  ),
  ...around(
    'max_order_notional',
    { max_order_notional: '1', allow_unknown: ['contract', 'price'] },
    { last: '10', passes: [], fails: [{ instrument_type: undefined }] },
  ),
  ...around(
    'allowed_sessions',
    { allowed_sessions: ['CORE'] },
    {
      passes: [
        { support_trading_session: 'N' },
        { support_trading_session: 'CORE', extended_hours: false },
        { extended_hours: null },
      ],
      fails: [
        { support_trading_session: 'Y' },
        { support_trading_session: 'ALL_DAY' },
        { support_trading_session: 'CORE', extended_hours: true },
      ],
    },
  ),
  ...around(
    'allowed_sessions',
    { allowed_sessions: ['ALL', 'CORE'] },
    {
      passes: [{ support_trading_session: 'Y' }, { support_trading_session: 'N', extended_hours: true }],
      fails: [{ support_trading_session: 'ALL_DAY' }],
    },
  ),
  // 99 × 1.05 is below 10.395 × 10.
  ...around(
    'max_order_quantity',
    { max_order_quantity: '10' },
    {
      last: '10.395',
      passes: [byAmount('99'), limited('10.395', '1', byAmount('99'))],
      fails: [
        byAmount('99.01'),
        { ...byAmount('99.01'), quantity: '1' },
        limited('10.39', '1', byAmount('99')),
        { ...byAmount('99'), order_type: 'STOP_LOSS', side: 'SELL', stop_price: '1' },
        { ...byAmount('1'), instrument_type: 'CRYPTO' },
        { ...byAmount('1'), instrument_type: 'OPTION', legs: [call] },
        { ...byAmount('1'), instrument_type: undefined },
        { ...byAmount('1'), legs: [leg] },
      ],
    },
  ),
  ...around(
    'max_order_quantity',
    { max_order_quantity: '10' },
    {
      passes: [],
      fails: [byAmount('1')],
    },
  ),
];

/** Of two checks one is to notify, and both fail. */
const ofActions: readonly Case[] = [
  {
    name: 'notify lets an order go on',
    limits: { max_order_quantity: '10', actions: { max_order_quantity: 'notify' } },
    order: newOrder(limited('1', '11')),
    fails: [],
  },
  {
    name: 'notify of one check takes nothing from another',
    limits: { max_order_quantity: '10', allowed_sides: ['SELL'], actions: { max_order_quantity: 'notify' } },
    order: newOrder(limited('1', '11')),
    fails: ['allowed_sides'],
  },
  {
    name: 'block is what happens to a check that names no action',
    limits: { max_order_quantity: '10', actions: { max_order_quantity: 'block' } },
    order: newOrder(limited('1', '11')),
    fails: ['max_order_quantity'],
  },
  { name: 'no limits', limits: {}, order: newOrder(limited('1e999', '1e999')), fails: [] },
];

export const cases: readonly Case[] = [
  ...ofQuantity,
  ...ofNotional,
  ...ofLists,
  ...ofSales,
  ...ofCollar,
  ...ofForms,
  ...ofActions,
];
