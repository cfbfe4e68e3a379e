/** Symbols that come and go while the simulator runs. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { type Json, play } from './player.ts';
import { codeOf, credentials, send, snapshotPath, testTime } from './support.ts';
import { held, place, refused } from './trader.ts';

const directory = { category: 'US_STOCK' };
const symbolsOf = (records: readonly Json[]) => records.map(({ symbol }) => symbol);

describe('over HTTP', () => {
  async function asked(simulator: Simulator, symbol: string, category: string) {
    const query = `symbols=${symbol}&category=${category}`;
    const snapshot = await send(simulator, { target: `${snapshotPath}?${query}` });
    const listing = await send(simulator, {
      target: `/trading/instruments/stocks/profiles/list?category=US_STOCK&symbols=${symbol}`,
    });
    return {
      snapshot: snapshot.status === 200 ? (snapshot.json as Json)[0].symbol : codeOf(snapshot),
      listed: symbolsOf((listing.json as Json).data),
      known: simulator.symbols(category as 'US_STOCK' | 'US_ETF').includes(symbol),
    };
  }
  const unknown = { snapshot: 'INVALID_SYMBOL', listed: [], known: false };

  for (const category of ['US_STOCK', 'US_ETF'] as const)
    test(`a symbol of ${category} is unknown, listed, known, delisted and unknown`, async () => {
      const simulator = await startSimulator({ ...credentials, clock: () => testTime });
      try {
        const known = { snapshot: 'NEWCO', listed: ['NEWCO'], known: true };
        assert.deepEqual(await asked(simulator, 'NEWCO', category), unknown);
        simulator.list('NEWCO', category);
        assert.deepEqual(await asked(simulator, 'NEWCO', category), known);
        simulator.delist('NEWCO');
        assert.deepEqual(await asked(simulator, 'NEWCO', category), unknown);
        simulator.delist('KO');
        assert.deepEqual(await asked(simulator, 'KO', 'US_STOCK'), unknown);
      } finally {
        await simulator.close();
      }
    });

  test('what cannot be listed or delisted is said', async () => {
    const simulator = await startSimulator(credentials);
    try {
      assert.throws(() => simulator.list('AAPL', 'US_STOCK'), /AAPL is listed already/);
      assert.throws(() => simulator.list('SPY', 'US_STOCK'), /SPY is listed already/);
      assert.throws(() => simulator.delist('NOPE9'), /NOPE9 is not listed/);
      for (const symbol of ['NOPE9', '', 'aapl', 'LONGER'])
        assert.throws(() => simulator.list(symbol, 'US_STOCK'), /is no symbol/);
    } finally {
      await simulator.close();
    }
  });
});

test('market data, rankings, fundamentals and orders follow', () => {
  const player = play();
  const { universe } = player.world;
  const one = (symbol: string) => ({ symbol, ...directory });
  universe.list('NEWCO', 'US_STOCK', player.now);
  universe.delist('KO', player.now);
  assert.ok(player.ask('getStockBars', { ...one('NEWCO'), timespan: 'M1' }).length > 0);
  assert.ok(player.ask('getCompanyProfile', one('NEWCO')));
  place(player, { symbol: 'NEWCO' });
  assert.equal(player.refused('getStockBars', { ...one('KO'), timespan: 'M1' }), 'INVALID_SYMBOL');
  assert.equal(player.refused('getCompanyProfile', one('KO')), 'INVALID_SYMBOL');
  assert.equal(refused(player, { symbol: 'KO' }), 'INVALID_SYMBOL');
  const sectors = player.pages('listMarketSectors', directory).records;
  const ranked = sectors.flatMap(({ id }) =>
    symbolsOf(player.pages('getMarketSectorDetail', { ...directory, sector_id: id }).records),
  );
  assert.deepEqual(
    ['AAPL', 'NEWCO', 'KO'].map((symbol) => ranked.includes(symbol)),
    [true, true, false],
  );
});

test('who holds or watches what was delisted still sees it', () => {
  const player = play();
  const watched = () =>
    symbolsOf(player.ask('listWatchlistInstruments', { watchlist_id: '40218837' }).instruments);
  const [before, shares] = [watched(), held(player, 'AAPL').quantity];
  player.world.universe.delist('AAPL', player.now);
  assert.ok(before.includes('AAPL'));
  assert.deepEqual([watched(), held(player, 'AAPL').quantity], [before, shares]);
});

test('a symbol that is listed again is another instrument', () => {
  const player = play();
  const id = () =>
    player.ask('getStockSnapshots', { symbols: 'KO', ...directory }).map((one: Json) => one.instrument_id)[0];
  const before = id();
  player.world.universe.delist('KO', player.now);
  player.world.universe.list('KO', 'US_STOCK', player.now);
  const all = [...player.world.universe.values()].map(({ instrumentId }) => instrumentId);
  assert.equal(new Set(all).size, all.length);
  assert.notEqual(id(), before);
  assert.equal(all.at(-1), id());
});

/** The clock goes on between the pages, or the changes fall into the first page's own millisecond. */
for (const [clock, step] of [
  ['a clock that goes on', 1000],
  ['a clock that stands', 0],
] as const)
  test(`who pages through the list meets each record of the first page’s moment once, with ${clock}`, () => {
    const player = play();
    const { universe } = player.world;
    const before = symbolsOf(player.pages('listStockInstruments', directory).records);
    const gone = ['AAPL', before[999], before[1000], before.at(-1)];
    const come: string[] = [];
    const { records } = player.pages('listStockInstruments', directory, () => {
      player.now += step;
      const leaving = gone[come.length];
      if (leaving) universe.delist(leaving, player.now);
      const coming = `NEW${'ABCDEFGHI'[come.length]}X`;
      universe.list(coming, 'US_STOCK', player.now);
      come.push(coming);
    });
    const met = symbolsOf(records);
    assert.equal(new Set(met).size, met.length);
    if (step) assert.deepEqual(met, before);
    else for (const symbol of before) assert.ok(met.includes(symbol) || gone.includes(symbol), symbol);
    const after = symbolsOf(player.pages('listStockInstruments', directory).records);
    assert.deepEqual(after, [...before.filter((symbol) => !gone.includes(symbol)), ...come]);
  });

test('option contracts go on after their underlying has gone, as of the first page’s moment', () => {
  const player = play();
  const asked = { category: 'US_OPTION', underlying_symbols: 'KO,PEP' };
  const before = symbolsOf(player.pages('listOptionContracts', asked).records);
  let first = true;
  const { records } = player.pages('listOptionContracts', asked, () => {
    player.now += 1000;
    if (first) player.world.universe.delist('KO', player.now);
    first = false;
  });
  assert.deepEqual(symbolsOf(records), before);
  const after = player.pages('listOptionContracts', asked).records;
  assert.ok(after.length > 0 && after.every((one) => one.underlying_symbol === 'PEP'));
});
