import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as v from 'valibot';
import { test } from 'vitest';
import { behaviourOf } from '../../infra/simulator/behaviours/index.ts';
import { snapshot } from '../../infra/simulator/behaviours/market.ts';
import {
  dayMilliseconds,
  dayPricesAt,
  type Hours,
  momentAt,
  rangeOf,
} from '../../infra/simulator/market/prices.ts';
import { lastTradeTime } from '../../infra/simulator/market/tape.ts';
import { createUniverse } from '../../infra/simulator/market/universe.ts';
import { ratio } from '../../infra/simulator/numbers-and-times.ts';
import { createWorld, type World } from '../../infra/simulator/world.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { type Json, play } from './player.ts';
import { codeOf, send, snapshotPath, testTime, withSimulator } from './support.ts';

type Snapshot = Record<string, string> & { last_trade_time: number };

const world = createWorld(1);
const stocks = [...world.universe.values()].filter((one) => one.category === 'US_STOCK');

function snapshots(symbols: string, now: number, more: Record<string, string> = {}, from: World = world) {
  const query = { symbols, category: 'US_STOCK', ...more };
  const reply = behaviourOf('getStockSnapshots')(
    { operation: getStockSnapshots, query, body: undefined, now },
    from,
  );
  assert.ok(reply.ok);
  return reply.payload as Snapshot[];
}

const symbols = fc.constantFrom(...stocks.map((one) => one.symbol));
const times = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) });
const cents = (decimal: string | undefined) => {
  assert.match(decimal ?? '', /^-?\d+\.\d\d$/);
  return Math.round(Number(decimal) * 100);
};

test('a snapshot agrees with itself', () => {
  const asked = { extend_hour_required: 'true', overnight_required: 'true' };
  fc.assert(
    fc.property(symbols, times, (symbol, now) => {
      const [one] = snapshots(symbol, now, asked) as [Snapshot];
      assert.ok(v.is(getStockSnapshots.response, [one]));
      const [price, open, high, low] = [one.price, one.open, one.high, one.low].map(cents) as [
        number,
        number,
        number,
        number,
      ];
      assert.ok(low <= open && open <= high && low <= price && price <= high && low > 0);
      assert.equal(cents(one.change), price - cents(one.pre_close));
      assert.equal(one.change_ratio, ratio(price - cents(one.pre_close), cents(one.pre_close)));
      assert.match(one.change_ratio!, /^-?\d+\.\d{4}$/);
      assert.ok(cents(one.bid) < price && price < cents(one.ask));
      assert.match(one.volume!, /^\d+$/);
      assert.ok(Number.isInteger(one.last_trade_time) && one.last_trade_time <= now);
      assert.equal(Math.floor(one.last_trade_time / dayMilliseconds), Math.floor(now / dayMilliseconds));
      for (const [last, prefix] of [
        ['extend_hour_last_price', 'extend_hour'],
        ['ovn_price', 'ovn'],
      ] as const) {
        assert.ok(
          cents(one[`${prefix}_low`]) <= cents(one[last]) && cents(one[last]) <= cents(one[`${prefix}_high`]),
        );
        assert.equal(cents(one[`${prefix}_change`]), cents(one[last]) - price);
      }
      assert.ok(cents(one.ovn_bid) < cents(one.ovn_price) && cents(one.ovn_price) < cents(one.ovn_ask));
    }),
    { numRuns: 200 },
  );
});

test('within a day highs only rise, lows only fall, volume only grows, and no price was outside', () => {
  const pair = fc.tuple(fc.nat(dayMilliseconds - 1), fc.nat(dayMilliseconds - 1));
  fc.assert(
    fc.property(symbols, fc.integer({ min: 19_000, max: 23_000 }), pair, (symbol, day, [a, b]) => {
      const at = (time: number) => snapshots(symbol, day * dayMilliseconds + time)[0]!;
      const [before, later] = [at(Math.min(a, b)), at(Math.max(a, b))];
      assert.ok(cents(later.high) >= cents(before.high) && cents(later.low) <= cents(before.low));
      assert.ok(cents(before.price) <= cents(later.high) && cents(before.price) >= cents(later.low));
      assert.ok(Number(later.volume) >= Number(before.volume));
      assert.deepEqual([later.open, later.pre_close], [before.open, before.pre_close]);
    }),
    { numRuns: 200 },
  );
});

test('who asks again and again has the same range of the day as who asks once', () => {
  const bySome = fc.oneof(fc.integer({ min: -90_000, max: 90_000 }), fc.nat(dayMilliseconds / 4));
  const session = fc.constantFrom<Hours[]>('regular', 'extended');
  const steps = fc.array(fc.tuple(bySome, session), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(
      fc.constantFrom(...stocks),
      fc.integer({ min: 19_000, max: 23_000 }),
      steps,
      (one, day, all) => {
        let time = day * dayMilliseconds;
        for (const [step, session] of all) {
          time += step;
          const { high, low } = dayPricesAt(one, time, session);
          const { day: today } = momentAt(time);
          assert.deepEqual({ high, low }, rangeOf(one, { day: today, minute: 0 }, momentAt(time), session));
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('the previous close is the last price of the day before', () => {
  fc.assert(
    fc.property(fc.constantFrom(...stocks), fc.integer({ min: 19_000, max: 23_000 }), (instrument, day) => {
      const end = day * dayMilliseconds;
      const { previousClose } = dayPricesAt(instrument, end);
      const { price } = dayPricesAt(instrument, end - 1);
      assert.ok(Math.abs(previousClose - price) <= 1);
    }),
    { numRuns: 50 },
  );
});

test('prices move by about one to three percent a day, and from second to second', () => {
  const moves = stocks.slice(0, 100).flatMap((instrument) =>
    Array.from({ length: 20 }, (_, day) => {
      const { price, previousClose } = dayPricesAt(instrument, (20_000 + day) * dayMilliseconds);
      const next = dayPricesAt(instrument, (20_001 + day) * dayMilliseconds).previousClose;
      return (next - previousClose) / price;
    }),
  );
  const typical = Math.sqrt(moves.reduce((sum, move) => sum + move ** 2, 0) / moves.length);
  assert.ok(typical > 0.01 && typical < 0.03, `typical daily move ${typical}`);
  assert.ok(Math.max(...moves.map(Math.abs)) < 0.2);
  const minute = Array.from(
    { length: 60 },
    (_, second) => snapshots('MSFT', testTime + second * 1000)[0]!.price,
  );
  assert.ok(new Set(minute).size > 3);
});

test('the same seed and time give the same answer in any order; another seed gives another', () => {
  const list = 'AAPL,NVDA,TSLA';
  const first = snapshots(list, testTime, {}, createWorld(7));
  const again = createWorld(7);
  snapshots('TSLA,MSFT', testTime + 5 * dayMilliseconds, {}, again);
  assert.deepEqual(snapshots(list, testTime, {}, again), first);
  assert.notDeepEqual(snapshots(list, testTime, {}, createWorld(8)), first);
});

test('the universe is large, repeatable, and known by name', () => {
  const universe = createUniverse(1);
  const instruments = [...universe.values()];
  const symbols = instruments.map(({ symbol }) => symbol);
  // Another seed in between, because the last one's is remembered.
  const others = [...createUniverse(2).values()].map(({ symbol }) => symbol);
  assert.deepEqual([...createUniverse(1).values()], instruments);
  assert.notDeepEqual(others, symbols);
  assert.deepEqual([new Set(symbols).size, stocks.length], [12_000, 8500]);
  const lengths = new Set(symbols.map((symbol) => symbol.length));
  assert.deepEqual([...lengths].sort(), [1, 2, 3, 4, 5]);
  assert.equal(new Set(instruments.map((one) => one.instrumentId)).size, instruments.length);
  for (const symbol of ['AAPL', 'MSFT', 'NVDA', 'AMZN', 'GOOGL', 'META', 'TSLA']) {
    assert.equal(universe.get(symbol)?.category, 'US_STOCK');
  }
  for (const symbol of ['SPY', 'QQQ', 'VTI']) assert.equal(universe.get(symbol)?.category, 'US_ETF');
});

test('snapshots over HTTP: in the order asked, extras only on request, unknown symbols by name', async () => {
  await withSimulator({}, async (simulator) => {
    const ask = (query: string) => send(simulator, { target: `${snapshotPath}?${query}` });
    const plain = await ask('symbols=MSFT,AAPL&category=US_STOCK&extend_hour_required=false');
    const records = plain.json as Snapshot[];
    assert.deepEqual([plain.status, records.map((one) => one.symbol)], [200, ['MSFT', 'AAPL']]);
    assert.ok(!/"(extend_hour|ovn)_/.test(plain.text));
    const extended = await ask('symbols=SPY&category=US_ETF&extend_hour_required=True');
    assert.match(extended.text, /"extend_hour_last_price"/);
    assert.ok(!extended.text.includes('"ovn_'));
    assert.match((await ask('symbols=SPY&category=US_ETF&overnight_required=true')).text, /"ovn_price"/);

    for (const [query, symbol] of [
      ['symbols=AAPL,NOPE9&category=US_STOCK', 'NOPE9'],
      ['symbols=AAPL,SPY&category=US_STOCK', 'SPY'],
      ['symbols=AAPL&category=US_ETF', 'AAPL'],
      ['symbols=aapl&category=US_STOCK', 'aapl'],
    ] as const) {
      const refused = await ask(query);
      assert.deepEqual([refused.status, codeOf(refused)], [417, 'INVALID_SYMBOL']);
      assert.ok(refused.text.includes(symbol));
    }
    const hundred = simulator.symbols('US_STOCK').slice(-100).join(',');
    assert.equal(((await ask(`symbols=${hundred}&category=US_STOCK`)).json as Snapshot[]).length, 100);
    const alias = await send(simulator, {
      target: '/market-data/stocks/snapshots/list?symbols=AAPL&category=US_STOCK',
    });
    assert.deepEqual(alias.json, [records[1]]);
  });
});

test('rankings have the snapshots of that moment, the farthest first', () => {
  const player = play(world);
  const gainers = { rank_type: 'DAY_1', category: 'US_STOCK', sort_by: 'CHANGE_RATIO' };
  for (const [id, measure, query] of [
    ['listGainersLosers', 'change_ratio', { ...gainers, direction: 'ASC' }],
    ['listGainersLosers', 'change_ratio', gainers],
    ['listTopActive', 'volume', { category: 'US_ETF' }],
  ] as const) {
    const sign = 'direction' in query ? 1 : -1;
    const active = world.universe.active().filter(({ category }) => category === query.category);
    const values = active
      .map((one) => Number(snapshot(one, lastTradeTime(one, testTime))[measure]))
      .sort((a, b) => sign * (a - b));
    const rank: Json[] = player.ask(id, query);
    assert.deepEqual(
      rank.map((one) => Number(one[measure])),
      values.slice(0, 200),
    );
    assert.equal(rank.length, Math.min(200, active.length));
    const [{ symbol }] = rank as [Json];
    const [shown] = player.ask('getStockSnapshots', { symbols: symbol, category: query.category });
    for (const name of ['price', 'open', 'high', 'low', 'pre_close', 'change', 'volume', 'instrument_id'])
      assert.equal(rank[0][name], shown[name], name);
  }
});
