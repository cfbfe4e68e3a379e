import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { createWorld } from '../../infra/simulator/world.ts';
import { each } from '../support/each.ts';
import { barTime, cents, type Json, play } from './player.ts';
import { testTime } from './support.ts';

const world = createWorld(1);
const symbols = fc.constantFrom(
  ...[...world.universe.values()]
    .filter(({ category }) => category === 'US_STOCK')
    .map(({ symbol }) => symbol),
);
const times = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) });
const spans = fc.constantFrom('M1', 'M5', 'M15', 'M30', 'M60', 'M120', 'M240', 'D', 'W', 'M', 'Y');

const minute = 60_000;
const lengths: Readonly<Record<string, number>> = {
  M1: minute,
  M5: 5 * minute,
  M15: 15 * minute,
  M30: 30 * minute,
  M60: 60 * minute,
  M120: 120 * minute,
  M240: 240 * minute,
  D: 1440 * minute,
};

function bars(symbol: string, now: number, more: Record<string, string> = {}): Json[] {
  const player = play(world);
  player.now = now;
  return player.ask('getStockBars', {
    symbol,
    category: 'US_STOCK',
    timespan: 'D',
    real_time_required: 'false',
    ...more,
  });
}

function snapshot(symbol: string, now: number, more: Record<string, string> = {}): Json {
  const player = play(world);
  player.now = now;
  return player.ask('getStockSnapshots', { symbols: symbol, category: 'US_STOCK', ...more })[0];
}

test('with the forming bar, bars of every length end at the price of the snapshot', () => {
  fc.assert(
    fc.property(symbols, times, spans, (symbol, now, timespan) => {
      const all = bars(symbol, now, { timespan, count: '5', real_time_required: 'true' });
      const { price, last_trade_time: trade } = snapshot(symbol, now);
      assert.equal(all.at(-1).close, price);
      assert.ok(barTime(all.at(-1)) <= trade);
      for (const [at, bar] of all.entries()) {
        const [open, close, high, low] = [bar.open, bar.close, bar.high, bar.low].map(cents) as [
          number,
          number,
          number,
          number,
        ];
        assert.ok(low <= Math.min(open, close) && Math.max(open, close) <= high);
        assert.match(bar.volume, /^\d+$/);
        assert.ok(at === 0 || barTime(bar) > barTime(all[at - 1]));
        if (lengths[timespan]) assert.equal(barTime(bar) % lengths[timespan], 0);
      }
    }),
    { numRuns: 150 },
  );
});

test('so they do in the first moments of a bar, when nothing was traded in it yet', () => {
  const boundary = fc.integer({ min: Date.UTC(2024, 0) / minute, max: Date.UTC(2030, 0) / minute });
  let before = 0;
  fc.assert(
    fc.property(symbols, boundary, fc.nat(250), (symbol, at, more) => {
      const now = at * minute + more;
      const [last] = bars(symbol, now, { timespan: 'M1', count: '1', real_time_required: 'true' });
      const { price, last_trade_time: trade } = snapshot(symbol, now);
      assert.equal(last.close, price);
      if (trade < at * minute) before++;
    }),
    { numRuns: 200 },
  );
  assert.ok(before > 20, 'such moments were among them');
});

test('the bar of today is the day of the snapshot; yesterday’s closed at its previous close', () => {
  fc.assert(
    fc.property(symbols, times, (symbol, now) => {
      const [yesterday, today] = bars(symbol, now, { count: '2', real_time_required: 'true' });
      const { open, high, low, price, volume, pre_close } = snapshot(symbol, now);
      assert.deepEqual(
        [today.open, today.high, today.low, today.close, today.volume],
        [open, high, low, price, volume],
      );
      assert.equal(yesterday.close, pre_close);
    }),
    { numRuns: 100 },
  );
});

test('longer bars are made of the shorter ones', () => {
  fc.assert(
    fc.property(
      symbols,
      times,
      fc.constantFrom(['M60', 'M1', 60], ['D', 'M60', 24], ['W', 'D', 7]),
      (symbol, now, [long, short, count]) => {
        const [whole] = bars(symbol, now, { timespan: String(long), count: '1' });
        const end = barTime(whole) + (long === 'W' ? 7 * lengths.D! : lengths[long]!);
        const parts = bars(symbol, now, {
          timespan: String(short),
          start_time: String(barTime(whole)),
          end_time: String(end - 1),
        });
        assert.equal(parts.length, count);
        const sum = parts.reduce((total, { volume }) => total + Number(volume), 0);
        const highest = Math.max(...parts.map(({ high }) => cents(high)));
        const lowest = Math.min(...parts.map(({ low }) => cents(low)));
        // Between the last trade of a part and its end, the path may have gone a little further.
        assert.ok(cents(whole.high) - highest >= 0 && cents(whole.high) - highest <= 0.002 * highest);
        assert.ok(lowest - cents(whole.low) >= 0 && lowest - cents(whole.low) <= 0.002 * lowest);
        assert.equal(Number(whole.volume), sum);
        assert.deepEqual([parts[0].open, parts.at(-1).close], [whole.open, whole.close]);
      },
    ),
    { numRuns: 40 },
  );
});

test('the forming bar is left out where it is not wanted', () => {
  const [last] = bars('AAPL', testTime + 1, { timespan: 'M60', count: '1' });
  assert.equal(barTime(last), Date.UTC(2026, 10, 17, 8));
  const [forming] = bars('AAPL', testTime + 1, { timespan: 'M60', count: '1', real_time_required: 'true' });
  assert.equal(barTime(forming), Date.UTC(2026, 10, 17, 9));
});

test('count and range choose: the newest of what begins in the range, oldest first', () => {
  const start = Date.UTC(2026, 10, 10, 0, 7);
  const range = { timespan: 'M5', start_time: String(start), end_time: String(Date.UTC(2026, 10, 10, 1)) };
  const all = bars('AAPL', testTime, range).map(barTime);
  assert.equal(all.length, 11);
  assert.deepEqual([all[0], all.at(-1)], [Date.UTC(2026, 10, 10, 0, 10), Date.UTC(2026, 10, 10, 1)]);
  assert.deepEqual(bars('AAPL', testTime, { ...range, count: '3' }).map(barTime), all.slice(-3));
  assert.equal(bars('AAPL', testTime).length, 200);
  assert.deepEqual(bars('AAPL', testTime, { start_time: String(testTime + 1) }), []);
  const years = bars('AAPL', testTime, { timespan: 'Y', count: '1200' });
  assert.deepEqual(
    years.map((bar) => new Date(barTime(bar)).getUTCFullYear()),
    [2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2025],
  );
  assert.deepEqual(
    bars('AAPL', testTime, { timespan: 'W', count: '9' }).map((bar) => new Date(barTime(bar)).getUTCDay()),
    Array(9).fill(1),
  );
});

test('sessions: regular alone, the others at the prices of their own', () => {
  const latest = (trading_sessions: string) =>
    bars('AAPL', testTime, { timespan: 'M1', count: '1', real_time_required: 'true', trading_sessions })[0];
  const extras = snapshot('AAPL', testTime, { extend_hour_required: 'true', overnight_required: 'true' });
  assert.deepEqual([latest('RTH').close, latest('RTH').trading_session], [extras.price, 'RTH']);
  assert.deepEqual(
    [latest('PRE').close, latest('PRE').trading_session],
    [extras.extend_hour_last_price, 'PRE'],
  );
  assert.deepEqual([latest('OVN').close, latest('OVN').trading_session], [extras.ovn_price, 'OVN']);
  assert.equal(latest('PRE,RTH').trading_session, 'RTH');
  // After noon the extended session has the other name: in the morning, the last bar of it is yesterday's.
  assert.equal(barTime(latest('ATH')), Date.UTC(2026, 10, 16, 23, 59));
  const both = bars('AAPL', Date.UTC(2026, 10, 17, 12, 5), {
    timespan: 'M5',
    count: '2',
    trading_sessions: 'PRE,ATH',
  });
  assert.deepEqual(each(both, 'trading_session'), ['PRE', 'ATH']);
});

test('the form for several symbols has the same bars, each under its symbol', () => {
  const player = play(world);
  const body = {
    symbols: ['MSFT', 'AAPL'],
    category: 'US_STOCK',
    timespan: 'M30',
    count: '3',
    real_time_required: true,
  };
  const { result } = player.ask('listStockBars', {}, body);
  assert.deepEqual(
    result.map(({ symbol }: Json) => symbol),
    ['MSFT', 'AAPL'],
  );
  const query = { timespan: 'M30', count: '3', real_time_required: 'true' };
  assert.deepEqual(result[1].result, bars('AAPL', testTime, query));
  assert.equal(result[1].instrument_id, snapshot('AAPL', testTime).instrument_id);
  for (const [change, code] of [
    [{ symbols: ['AAPL', 'NOPE9'] }, 'INVALID_SYMBOL'],
    [{ symbols: ['SPY'] }, 'INVALID_SYMBOL'],
    [{ count: '0' }, 'ILLEGAL_PARAMETER'],
    [{ count: '1651' }, 'ILLEGAL_PARAMETER'],
  ] as const)
    assert.equal(player.refused('listStockBars', {}, { ...body, ...change }), code);
  assert.equal(
    player.refused('getStockBars', { symbol: 'AAPL', category: 'US_ETF', timespan: 'D' }),
    'INVALID_SYMBOL',
  );
});
