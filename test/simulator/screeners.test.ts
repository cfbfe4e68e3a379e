import assert from 'node:assert/strict';
import { test } from 'vitest';
import { cents, type Json } from './player.ts';
import { assertSorted, everyStock, player, snapshotsOf, stocks } from './rankings.ts';

test('gainers and losers are the best and the worst of all snapshots of that moment', () => {
  const snapshots = snapshotsOf(everyStock);
  const ratios = [...snapshots.values()]
    .map(({ change_ratio: ratio }) => Number(ratio))
    .sort((a, b) => a - b);
  for (const direction of ['DESC', 'ASC'] as const) {
    const rank = player.ask('listGainersLosers', {
      ...stocks,
      rank_type: 'DAY_1',
      sort_by: 'CHANGE_RATIO',
      direction,
    });
    assert.equal(rank.length, 200);
    const expected = direction === 'ASC' ? ratios.slice(0, 200) : ratios.slice(-200).reverse();
    assert.deepEqual(
      rank.map((one: Json) => Number(one.change_ratio)),
      expected,
    );
    for (const one of rank) {
      const snapshot = snapshots.get(one.symbol);
      for (const name of [
        'price',
        'open',
        'high',
        'low',
        'close',
        'pre_close',
        'change',
        'change_ratio',
        'volume',
        'instrument_id',
      ])
        assert.equal(one[name], snapshot[name], name);
      assert.equal(one.turnover_rate, snapshot.turnover);
    }
  }
  const byDefault = { ...stocks, rank_type: 'DAY_1', sort_by: 'CHANGE_RATIO' };
  assert.deepEqual(
    player.ask('listGainersLosers', byDefault),
    player.ask('listGainersLosers', { ...byDefault, direction: 'DESC' }),
  );
});

test('every field sorts, in both directions', () => {
  const fields = {
    MARKET_VALUE: 'market_value',
    PRICE: 'price',
    CLOSE: 'close',
    HIGH: 'high',
    LOW: 'low',
    AMPLITUDE: 'amplitude',
    TURNOVER: 'turnover',
    VOLUME: 'volume',
    PE_TTM: 'pe_ttm',
    RELATIVE_VOLUME_10D: 'relative_volume_10d',
  };
  for (const [sort_by, name] of Object.entries(fields))
    for (const direction of ['ASC', 'DESC'] as const) {
      const query = { ...stocks, rank_type: 'DAY_1', sort_by, direction };
      assertSorted(
        player.ask('listGainersLosers', query).map((one: Json) => Number(one[name])),
        direction,
      );
    }
});

test('other windows measure from an earlier price', () => {
  for (const [rank_type, back] of [
    ['DAY_5', 5 * 86_400_000],
    ['MIN_5', 300_000],
    ['WEEK_52', 364 * 86_400_000],
  ] as const) {
    const [one] = player.ask('listGainersLosers', { ...stocks, rank_type, sort_by: 'CHANGE_RATIO' });
    const later = cents(one.price);
    const { last_trade_time: trade } = snapshotsOf([one.symbol]).get(one.symbol);
    const now = player.now;
    player.now = trade - back;
    const then = cents(snapshotsOf([one.symbol]).get(one.symbol).price);
    player.now = now;
    // The trade then was up to three seconds earlier.
    assert.ok(Math.abs(cents(one.change) - (later - then)) <= 0.002 * then, rank_type);
  }
  const night = player.ask('listGainersLosers', {
    ...stocks,
    rank_type: 'PRE_MARKET',
    sort_by: 'CHANGE_RATIO',
  })[0];
  const extended = { symbols: night.symbol, ...stocks, extend_hour_required: 'true' };
  assert.equal(night.change_ratio, player.ask('getStockSnapshots', extended)[0].extend_hour_change_ratio);
});

test('the most active are chosen by the measure and shown in the order asked for', () => {
  const volumes = [...snapshotsOf(everyStock).values()]
    .map(({ volume }) => Number(volume))
    .sort((a, b) => b - a);
  const rank = player.ask('listTopActive', stocks);
  assert.deepEqual(
    rank.map(({ volume }: Json) => Number(volume)),
    volumes.slice(0, 200),
  );
  const byPrice = player.ask('listTopActive', { ...stocks, sort_by: 'PRICE', direction: 'ASC' });
  assertSorted(
    byPrice.map(({ price }: Json) => Number(price)),
    'ASC',
  );
  const symbols = (list: Json[]) => list.map(({ symbol }) => symbol).sort();
  assert.deepEqual(symbols(byPrice), symbols(rank));
  assert.notDeepEqual(
    symbols(player.ask('listTopActive', { ...stocks, rank_type: 'AMPLITUDE' })),
    symbols(rank),
  );
  const funds = player.ask('listTopActive', { category: 'US_ETF' });
  assert.equal(funds.length, 150, 'as many as are traded actively');
});

test('dividends: the yield is what the calendar pays over the price', () => {
  const rank = player.ask('listHighDividendRank', stocks);
  assert.equal(rank.length, 200);
  assertSorted(
    rank.map((one: Json) => Number(one.yield)),
    'DESC',
  );
  const [best] = rank;
  assert.ok(Math.abs(Number(best.yield) - cents(best.dividend) / cents(best.price)) < 0.0001);
  const paid = player.ask('listDividendCalendar', { symbol: best.symbol, ...stocks }).slice(-4);
  assert.equal(
    paid.reduce((sum: number, { amount }: Json) => sum + cents(amount), 0),
    cents(best.dividend),
  );
  assert.equal(best.ex_date, paid.at(-1).ex_div_date);
  const cheapest = player.ask('listHighDividendRank', { ...stocks, sort_by: 'PRICE', direction: 'ASC' });
  assertSorted(
    cheapest.map(({ price }: Json) => Number(price)),
    'ASC',
  );
});

test('52 weeks: the price is on the right side of the extreme, at it or near it', () => {
  for (const rank_type of ['NEW_HIGH', 'NEAR_HIGH', 'NEW_LOW', 'NEAR_LOW']) {
    const rank = player.ask('listWeek52HighLow', { ...stocks, rank_type });
    assert.ok(rank.length > 0, rank_type);
    assertSorted(
      rank.map((one: Json) => Number(one.change_ratio_52w)),
      'ASC',
    );
    for (const one of rank) {
      const [price, extreme] = [cents(one.price), cents(one.price_52w)];
      assert.ok(rank_type.endsWith('HIGH') ? price <= extreme : price >= extreme);
      assert.ok(Math.abs(price - extreme) <= (rank_type.startsWith('NEW') ? 0 : 0.03 * extreme));
    }
  }
});
