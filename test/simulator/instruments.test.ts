import assert from 'node:assert/strict';
import { test } from 'vitest';
import { each } from '../support/each.ts';
import { type Json, play } from './player.ts';

const player = play();
const all = [...player.world.universe.values()];

test('the paged list: all stocks once, a thousand on a page; funds by their sub-category', () => {
  const { records, count } = player.pages('listStockInstruments', { category: 'US_STOCK' });
  assert.deepEqual(
    each(records, 'symbol'),
    all.filter(({ category }) => category === 'US_STOCK').map(({ symbol }) => symbol),
  );
  assert.deepEqual([records.length, count], [8500, 9]);
  const funds = player.pages('listStockInstruments', { category: 'US_STOCK', sub_category: 'ETF' }).records;
  assert.equal(funds.length, 3500);
  assert.ok(funds.every((one) => one.category === 'US_ETF' && one.sub_category === 'ETF'));
  const named = new Set([...records, ...funds].map(({ name }) => name));
  assert.equal(named.size, all.length, 'every instrument has a name of its own');
});

test('filters by status, sub-category and symbol', () => {
  const list = (query: Record<string, string>) =>
    player.pages('listStockInstruments', { category: 'US_STOCK', ...query }).records;
  for (const status of ['OC', 'CO', 'NT']) {
    const found = list({ status });
    assert.ok(found.length > 0 && found.every((one) => one.status === status), status);
  }
  for (const sub_category of ['COMMON_STOCK', 'PREFERRED_STOCK', 'WARRANT', 'UNITS', 'RIGHT']) {
    const found = list({ sub_category });
    assert.ok(found.length > 0 && found.every((one) => one.sub_category === sub_category), sub_category);
  }
  assert.deepEqual(each(list({ symbols: 'MSFT,SPY,NOPE9,AAPL,AAPL' }), 'symbol'), ['MSFT', 'SPY', 'AAPL']);
  assert.equal(
    player.refused('listStockInstruments', { category: 'US_STOCK', pagination_key: 'bm90LW9uZQ' }),
    'OPENAPI_PARAM_ERR',
  );
});

test('the older list goes on from the last identifier, and comes to an end', () => {
  for (const [category, size] of [
    ['US_STOCK', 8500],
    ['US_ETF', 3500],
  ] as const) {
    const seen: string[] = [];
    let last: string | undefined;
    for (;;) {
      const page: Json[] = player.ask('getStockInstrument', {
        category,
        page_size: '770',
        ...(last && { last_instrument_id: last }),
      });
      if (page.length === 0) break;
      assert.ok(page.length <= 770 && page.every((one) => one.category === category));
      seen.push(...page.map(({ symbol }) => symbol));
      last = page.at(-1).instrument_id;
    }
    assert.deepEqual([seen.length, new Set(seen).size], [size, size]);
  }
  assert.equal(player.ask('getStockInstrument', { category: 'US_STOCK' }).length, 1000);
  assert.deepEqual(player.ask('getStockInstrument', { category: 'US_ETF', symbols: 'AAPL' }), []);
});

test('name, identifier and exchange are the same wherever an instrument is named', () => {
  const symbol = 'QQQ';
  const [instrument] = player.ask('listStockInstruments', { category: 'US_STOCK', symbols: symbol }).data;
  const [snapshot] = player.ask('getStockSnapshots', { symbols: symbol, category: 'US_ETF' });
  const ranked = player
    .ask('listTopActive', { category: 'US_ETF' })
    .find((one: Json) => one.symbol === symbol);
  const listed = player
    .ask('listWatchlistInstruments', { watchlist_id: '40218991' })
    .instruments.find((one: Json) => one.symbol === symbol);
  const profile = player.ask('getCompanyProfile', { symbol, category: 'US_ETF' });
  const brief = player.ask('getFundBrief', { symbol, category: 'US_STOCK' });
  assert.equal(snapshot.instrument_id, instrument.instrument_id);
  for (const other of [ranked, listed])
    assert.deepEqual(
      [other.instrument_id, other.name, other.exchange_code],
      [instrument.instrument_id, instrument.name, instrument.exchange_code],
    );
  assert.deepEqual([profile.company_name, brief.name], [instrument.name, instrument.name]);
});
