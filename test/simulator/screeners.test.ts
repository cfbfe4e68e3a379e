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

test('the most active have the most volume', () => {
  const volumes = [...snapshotsOf(everyStock).values()]
    .map(({ volume }) => Number(volume))
    .sort((a, b) => b - a);
  const rank = player.ask('listTopActive', stocks);
  assert.deepEqual(
    rank.map(({ volume }: Json) => Number(volume)),
    volumes.slice(0, 200),
  );
  const funds = player.ask('listTopActive', { category: 'US_ETF' });
  assert.equal(funds.length, 150, 'as many as are traded actively');
});

test('dividends: the yield is the dividend over the price', () => {
  const rank = player.ask('listHighDividendRank', stocks);
  assert.equal(rank.length, 200);
  assertSorted(
    rank.map((one: Json) => Number(one.yield)),
    'DESC',
  );
  const [best] = rank;
  assert.ok(Math.abs(Number(best.yield) - cents(best.dividend) / cents(best.price)) < 0.001);
  const cheapest = player.ask('listHighDividendRank', { ...stocks, sort_by: 'PRICE', direction: 'ASC' });
  assertSorted(
    cheapest.map(({ price }: Json) => Number(price)),
    'ASC',
  );
});

test('52 weeks: the price is on the right side of the extreme', () => {
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
    }
  }
});
