/** What others saw the live upstream take and answer: requests pass, and answers fit the types, in the form seen. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import {
  batchPlaceOrders,
  getAccountBalance,
  getCapitalFlow,
  getMarketSectorDetail,
  getOptionSnapshots,
  getOrder,
  getStockBars,
  getStockInstrument,
  getStockSnapshots,
  listMarketSectors,
  listOptionBars,
  listOptionTicks,
  listOrderHistory,
  listStockBars,
  listStockTicks,
  type Operation,
  operations,
  placeOrder,
  previewOrder,
} from '../../lib/catalogue/index.ts';
import { bodyFaults } from '../../lib/catalogue/validation.ts';
import { newOrder } from '../support/orders.ts';

const faultsIn = ({ body }: Operation, value: unknown) =>
  bodyFaults(body!, { text: JSON.stringify(value), value }).map(({ name }) => name);

const takes = ({ query }: Operation, name: string, value: string) =>
  v.safeParse(query[name]!.schema, value).success;

const exampleOf = ({ example }: Operation) => structuredClone(example.body) as Record<string, unknown>;

describe('requests', () => {
  for (const [operation, member] of [
    [placeOrder, 'new_orders'],
    [previewOrder, 'new_orders'],
    [batchPlaceOrders, 'batch_orders'],
  ] as const)
    test(`${operation.id}: a new client_order_id has 10 to 40 characters`, () => {
      for (const length of [1, 9, 10, 32, 40, 41]) {
        const body = exampleOf(operation);
        (body[member] as Record<string, unknown>[])[0]!.client_order_id = 'x'.repeat(length);
        assert.deepEqual(
          faultsIn(operation, body),
          length < 10 || length > 40 ? [`/${member}/0/client_order_id`] : [],
          `${length}`,
        );
      }
    });

  test('an existing order is found under the id that it has, which may be shorter', () => {
    for (const id of ['1', 'x'.repeat(40), 'x'.repeat(64)])
      assert.ok(takes(getOrder, 'client_order_id', id), id);
  });

  test('the upstream alone refuses a stock order without a session', () => {
    const { support_trading_session: _, ...order } = newOrder() as Record<string, unknown>;
    assert.deepEqual(faultsIn(placeOrder, { account_id: '1', new_orders: [order] }), []);
  });

  test('the example of placing an order is taken at any hour: it is no DAY order', () => {
    assert.equal(placeOrder.example.body.new_orders[0].time_in_force, 'GTC');
    assert.equal(placeOrder.example.body.new_orders[0].support_trading_session, 'CORE');
  });

  test('trailing types are AMOUNT and PERCENTAGE, in capitals', () => {
    for (const [type, faults] of [
      ['AMOUNT', []],
      ['PERCENTAGE', []],
      ['amount', ['/new_orders/0/trailing_type']],
      ['PERCENT', ['/new_orders/0/trailing_type']],
    ] as const)
      assert.deepEqual(
        faultsIn(placeOrder, { account_id: '1', new_orders: [newOrder({ trailing_type: type })] }),
        faults,
      );
  });

  test('the months of sectors have the letter O', () => {
    for (const operation of [listMarketSectors, getMarketSectorDetail])
      for (const [period, taken] of [
        ['MO1', true],
        ['MO3', true],
        ['M01', false],
        ['M03', false],
      ] as const)
        assert.equal(takes(operation, 'period', period), taken, period);
  });

  test('who asks for bars of one symbol by the retired path is told of the other', () => {
    assert.match(getStockBars.deprecated, /404.*listStockBars/);
  });

  test('both families of paths lead to an operation', () => {
    const both = operations.filter(({ path, aliases }) => {
      const old = [path, ...aliases].filter((one) => one.startsWith('/openapi/'));
      return old.length > 0 && old.length < 1 + aliases.length;
    });
    assert.ok(both.length > 40, `${both.length}`);
  });
});

describe('answers', () => {
  const seenAt = Date.UTC(2026, 8, 18, 13, 30);
  const cases: Readonly<Record<string, readonly [Operation, unknown]>> = {
    'greeks outside market hours': [
      getOptionSnapshots,
      [{ symbol: 'A', delta: '', gamma: null, vega: '1.0E-4', quote_time: seenAt, last_trade_time: null }],
    ],
    'undocumented members of a snapshot': [
      getStockSnapshots,
      [
        {
          symbol: 'AAPL',
          price: '228.50',
          last_trade_time: seenAt,
          quote_time: seenAt,
          pe_ratio: '33.1',
          pb_ratio: '',
          ps_ratio: null,
          yield: '0.0044',
          market_value: '3.4E12',
          neg_market_value: '3.3E12',
          total_shares: '14900000000',
          out_standing_shares: '14900000000',
          fifty_two_wk_high: '260.10',
          fifty_two_wk_low: '169.21',
          list_status: '1',
        },
      ],
    ],
    'bars with ISO 8601 text that is not RFC 3339': [
      listStockBars,
      {
        result: [
          {
            symbol: 'AAPL',
            instrument_id: '1',
            result: [
              {
                time: '2026-09-18T13:30:00.000+0000',
                open: '1',
                close: '1',
                high: '1',
                low: '1',
                volume: null,
              },
            ],
          },
        ],
      },
    ],
    'ticks with milliseconds in a text, and their session': [
      listStockTicks,
      {
        symbol: 'AAPL',
        instrument_id: '1',
        result: [{ time: `${seenAt}`, price: '1', volume: '1', side: 'B', trading_session: 'RTH' }],
      },
    ],
    'ticks of an option, which name it in another way': [
      listOptionTicks,
      { symbol: 'A', instrumentId: '1', result: [{ time: `${seenAt}`, price: '1', volume: '1', side: 'N' }] },
    ],
    'capital flow with a day without dashes': [getCapitalFlow, [{ date: '20260918', large_in: '' }]],
    'bars of options as a bare list': [listOptionBars, [{ symbol: 'A', instrument_id: '1', result: [] }]],
    'a list of margin calls, and day trades without a limit': [
      getAccountBalance,
      {
        total_asset_currency: 'USD',
        total_cash_balance: null,
        total_market_value: '',
        total_unrealized_profit_loss: '0',
        total_net_liquidation_value: null,
        total_day_profit_loss: '0',
        day_trades_left: 'UNLIMITED',
        open_margin_calls: [],
        account_currency_assets: [],
      },
    ],
    'the currency of a preview': [
      previewOrder,
      { estimated_cost: '2285.00', estimated_transaction_fee: '', currency: 'USD' },
    ],
    'a combination that was placed': [
      placeOrder,
      { combo_order_id: 'C1', client_combo_order_id: 'mine-000001' },
    ],
    'the last page, without a cursor': [listOrderHistory, { data: [] }],
  };
  for (const [words, [{ response }, answer]] of Object.entries(cases))
    test(words, () => {
      assert.deepEqual(v.safeParse(response, answer).issues ?? [], []);
    });

  test('changes of a watchlist, as a bare boolean and in an object', () => {
    const changes = operations.filter(({ verdict }) => verdict !== undefined);
    for (const { response } of changes)
      for (const answer of [true, false, { success: true }, { success: false }])
        assert.ok(v.is(response, answer));
    assert.equal(changes.length, 5);
  });

  test('what the interface text promises is a number wherever it is there', () => {
    for (const member of ['price', 'change_ratio', 'pre_close'])
      for (const absent of ['', null])
        assert.ok(!v.is(getStockSnapshots.response, [{ symbol: 'A', [member]: absent }]), member);
    assert.ok(v.is(getStockInstrument.response, [{ symbol: 'A', instrument_id: '1', lot_size: '' }]));
  });
});
