/** Answers in the forms that were seen live; each test quotes what was seen. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { observed } from '../../infra/simulator/observed.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { newOrder } from '../support/orders.ts';
import { account_id, withLive } from './observed.ts';
import { send, testTime } from './support.ts';

const stock = { symbol: 'AAPL', category: 'US_STOCK' };
const option = { symbols: 'AAPL270115C00240000', category: 'US_OPTION' };

/** Tuesday 2026-11-17 in New York. */
const [beforeOpen, open, afterClose, saturday] = [
  testTime,
  Date.UTC(2026, 10, 17, 14, 30),
  Date.UTC(2026, 10, 17, 21),
  Date.UTC(2026, 10, 21, 16),
] as const;

const greeks = ['imp_vol', 'delta', 'gamma', 'theta', 'vega', 'rho'];

test(observed.absentNumbers.fact, () =>
  withLive(async (live) => {
    for (const closed of [beforeOpen, afterClose, saturday]) {
      live.now = closed;
      const [snapshot] = await live.ask('getOptionSnapshots', option);
      const values = greeks.map((name) => snapshot[name]);
      assert.deepEqual(new Set(values), new Set(['', null]), String(closed));
    }
    for (const reported of [open, afterClose - 1]) {
      live.now = reported;
      const [snapshot] = await live.ask('getOptionSnapshots', option);
      for (const name of greeks) assert.match(snapshot[name], /^-?\d+\.\d{4}$/, name);
    }
  }),
);

describe('time forms', () => {
  test(observed.timeOfSnapshots.fact, () =>
    withLive(async (live) => {
      for (const [id, query] of [
        ['getStockSnapshots', { symbols: 'AAPL', category: 'US_STOCK' }],
        ['getOptionSnapshots', option],
      ] as const) {
        const [{ last_trade_time, quote_time }] = await live.ask(id, query);
        for (const time of [last_trade_time, quote_time])
          assert.ok(Number.isInteger(time) && time <= live.now && time > live.now - 60_000);
      }
    }),
  );

  test(observed.timeOfTicks.fact, () =>
    withLive(async (live) => {
      for (const [id, query] of [
        ['listStockTicks', { ...stock, count: '1' }],
        ['listOptionTicks', { symbol: option.symbols, category: 'US_OPTION', count: '1' }],
      ] as const) {
        const [{ time }] = (await live.ask(id, query)).result;
        assert.match(time, /^\d{13}$/);
        assert.ok(Number(time) <= live.now && Number(time) > live.now - 60_000);
      }
    }),
  );

  test(observed.timeOfBars.fact, () =>
    withLive(async (live) => {
      const body = { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'M30', count: 1 };
      const [{ result: stocks }] = (await live.ask('listStockBars', body)).result;
      const [{ result: options }] = await live.ask('listOptionBars', {
        ...option,
        timespan: 'M30',
        count: '1',
      });
      for (const [bar] of [stocks, options]) assert.equal(bar.time, '2026-11-17T09:00:00.000+0000');
    }),
  );

  test(observed.timeOfDays.fact, () =>
    withLive(async (live) => {
      const days = await live.ask('getCapitalFlow', { ...stock, count: '2' });
      assert.equal(days.length, 2);
      for (const { date } of days) assert.match(date, /^202611\d\d$/);
    }),
  );
});

test(observed.snapshotMembers.fact, () =>
  withLive(async (live) => {
    const [snapshot] = await live.ask('getStockSnapshots', { symbols: 'AAPL', category: 'US_STOCK' });
    const shares = Number(snapshot.total_shares);
    assert.equal(Number(snapshot.market_value), Math.round(Number(snapshot.price) * shares));
    for (const name of [
      'pe_ratio',
      'pb_ratio',
      'ps_ratio',
      'yield',
      'market_value',
      'neg_market_value',
      'total_shares',
      'out_standing_shares',
      'fifty_two_wk_high',
      'fifty_two_wk_low',
    ])
      assert.ok(Number(snapshot[name]) > 0 && typeof snapshot[name] === 'string', name);
    assert.ok(Number(snapshot.fifty_two_wk_low) <= Number(snapshot.price));
    assert.ok(Number(snapshot.fifty_two_wk_high) >= Number(snapshot.price));
    assert.equal(typeof snapshot.list_status, 'string');
    assert.equal(snapshot.quote_time, snapshot.last_trade_time);
  }),
);

test(observed.otherMembers.fact, () =>
  withLive(async (live) => {
    const [tick] = (await live.ask('listStockTicks', { ...stock, count: '1' })).result;
    assert.equal(tick.trading_session, 'RTH');
    const preview = await live.ask('previewOrder', { account_id, new_orders: [newOrder()] });
    assert.equal(preview.currency, 'USD');
  }),
);

test(observed.instrumentId.fact, () =>
  withLive(async (live) => {
    const query = { symbol: option.symbols, category: 'US_OPTION', count: '1' };
    const ticks = await live.ask('listOptionTicks', query);
    const [snapshot] = await live.ask('getOptionSnapshots', option);
    assert.deepEqual(Object.keys(ticks), ['symbol', 'instrumentId', 'result']);
    assert.equal(ticks.instrumentId, snapshot.instrument_id);
    const others = operations.filter(
      ({ id, group }) => ['market-data', 'instruments'].includes(group) && id !== 'listOptionTicks',
    );
    for (const { id, example } of others) {
      const { text } = await live.call(id, example.query ?? (example.body as object | undefined));
      assert.ok(!text.includes('instrumentId'), id);
    }
  }),
);

test(observed.balanceForms.fact, () =>
  withLive(async (live) => {
    const balance = await live.ask('getAccountBalance', { account_id });
    assert.deepEqual([balance.open_margin_calls, balance.day_trades_left], [[], 'UNLIMITED']);
  }),
);

test(observed.watchlistChanges.fact, () =>
  withLive(async (live) => {
    const { watchlist_id } = await live.ask('createWatchlist', { name: 'Ideas' });
    const instruments = [{ symbol: 'KO', category: 'US_STOCK', sort: 1 }];
    const changes = (id: string) =>
      [
        ['updateWatchlist', { watchlist_id: id, name: 'Picks' }],
        ['addWatchlistInstruments', { watchlist_id: id, instruments }],
        ['updateWatchlistInstruments', { watchlist_id: id, instruments }],
        ['removeWatchlistInstruments', { watchlist_id: id, instruments }],
        ['deleteWatchlist', { watchlist_id: id }],
      ] as const;
    for (const [id, body] of changes(watchlist_id))
      assert.equal((await live.call(id, body)).text, 'true', id);
    for (const [id, body] of changes('1')) {
      const { status, text } = await live.call(id, body);
      assert.deepEqual([status, text], [200, 'false'], id);
    }
  }),
);

test(observed.optionBars.fact, () =>
  withLive(async (live) => {
    const bars = await live.ask('listOptionBars', { ...option, timespan: 'D' });
    assert.ok(Array.isArray(bars));
    assert.deepEqual(Object.keys(bars[0]), ['symbol', 'instrument_id', 'result']);
  }),
);

test(observed.pathFamilies.fact, () =>
  withLive(async (live) => {
    const query = `?${new URLSearchParams({ account_id })}`;
    const families = ['/trading/assets/positions/list', '/openapi/assets/positions'];
    const [one, other] = await Promise.all(
      families.map((path) => send(live.simulator, { target: path + query })),
    );
    assert.deepEqual([one?.status, one?.text], [200, other?.text]);
  }),
);

test('each row of the table has a test that is named by it', () => {
  const files = ['observed-answers', 'observed-orders', 'waits/observed-refusals'].map(
    (one) => `${one}.test.ts`,
  );
  const text = files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('');
  for (const name of Object.keys(observed)) assert.ok(text.includes(`(observed.${name}.fact, `), name);
});
