import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type Json, play } from './player.ts';

const lists = (player: ReturnType<typeof play>): Json[] => player.ask('listWatchlists');
const symbolsOf = (player: ReturnType<typeof play>, watchlist_id: string): string[] =>
  player.ask('listWatchlistInstruments', { watchlist_id }).instruments.map(({ symbol }: Json) => symbol);
const done = true;

test('a list’s life: made, named, moved, deleted, and no longer known', () => {
  const player = play();
  assert.deepEqual(
    lists(player).map(({ watchlist_id: id }) => id),
    ['40218837', '40218991'],
  );
  player.now += 1000;
  const { watchlist_id } = player.ask('createWatchlist', {}, { name: 'Ideas', sort: 9 });
  const [first] = lists(player);
  assert.deepEqual(
    [first.watchlist_id, first.name, first.sort, first.create_time],
    [watchlist_id, 'Ideas', 9, player.now],
  );
  assert.deepEqual(symbolsOf(player, watchlist_id), []);

  player.now += 1000;
  assert.deepEqual(player.ask('updateWatchlist', {}, { watchlist_id, name: 'Picks' }), done);
  const [renamed] = lists(player);
  assert.deepEqual([renamed.name, renamed.sort, renamed.update_time], ['Picks', 9, player.now]);
  player.ask('updateWatchlist', {}, { watchlist_id, sort: 0 });
  assert.equal(lists(player).at(-1).watchlist_id, watchlist_id);
  assert.equal(lists(player).at(-1).name, 'Picks');

  assert.deepEqual(player.ask('deleteWatchlist', {}, { watchlist_id }), done);
  assert.equal(lists(player).length, 2);
  for (const [id, body] of [
    ['deleteWatchlist', { watchlist_id }],
    ['updateWatchlist', { watchlist_id, name: 'x' }],
    ['addWatchlistInstruments', { watchlist_id, instruments: [{ symbol: 'AAPL', category: 'US_STOCK' }] }],
  ] as const)
    assert.equal(player.ask(id, {}, body), false, id);
  assert.equal(player.refused('listWatchlistInstruments', { watchlist_id }), 'ILLEGAL_PARAMETER');
});

test('instruments: added, moved, removed; adding one twice leaves one', () => {
  const player = play();
  const watchlist_id = '40218837';
  const change = (id: string, ...instruments: object[]) => player.ask(id, {}, { watchlist_id, instruments });
  assert.deepEqual(symbolsOf(player, watchlist_id), ['AAPL', 'MSFT', 'NVDA']);
  change(
    'addWatchlistInstruments',
    { symbol: 'QQQ', category: 'US_ETF', sort: 99 },
    { symbol: 'KO', category: 'US_STOCK', sort: 0 },
  );
  assert.deepEqual(symbolsOf(player, watchlist_id), ['QQQ', 'AAPL', 'MSFT', 'NVDA', 'KO']);
  change('addWatchlistInstruments', { symbol: 'QQQ', category: 'US_ETF' });
  assert.deepEqual(symbolsOf(player, watchlist_id), ['QQQ', 'AAPL', 'MSFT', 'NVDA', 'KO']);
  change('updateWatchlistInstruments', { symbol: 'KO', category: 'US_STOCK', sort: 100 });
  assert.deepEqual(symbolsOf(player, watchlist_id), ['KO', 'QQQ', 'AAPL', 'MSFT', 'NVDA']);
  change(
    'removeWatchlistInstruments',
    { symbol: 'QQQ', category: 'US_ETF' },
    { symbol: 'AAPL', category: 'US_STOCK' },
  );
  assert.deepEqual(symbolsOf(player, watchlist_id), ['KO', 'MSFT', 'NVDA']);
  // What is not there is not put there by changing or removing it.
  change('updateWatchlistInstruments', { symbol: 'AAPL', category: 'US_STOCK', sort: 5 });
  change('removeWatchlistInstruments', { symbol: 'AAPL', category: 'US_STOCK' });
  assert.deepEqual(symbolsOf(player, watchlist_id), ['KO', 'MSFT', 'NVDA']);
  assert.deepEqual(symbolsOf(player, '40218991'), ['SPY', 'QQQ']);
});

test('one unknown symbol refuses the whole change', () => {
  const player = play();
  const watchlist_id = '40218837';
  for (const wrong of [
    { symbol: 'NOPE9', category: 'US_STOCK' },
    { symbol: 'SPY', category: 'US_STOCK' },
  ]) {
    const instruments = [{ symbol: 'KO', category: 'US_STOCK' }, wrong];
    for (const id of ['addWatchlistInstruments', 'removeWatchlistInstruments', 'updateWatchlistInstruments'])
      assert.equal(player.refused(id, {}, { watchlist_id, instruments }), 'INVALID_SYMBOL', id);
  }
  assert.deepEqual(symbolsOf(player, watchlist_id), ['AAPL', 'MSFT', 'NVDA']);
});

test('twenty lists and a thousand instruments, and not one more', () => {
  const player = play();
  for (let count = 2; count < 20; count++) player.ask('createWatchlist', {}, { name: `List ${count}` });
  const ids = lists(player).map(({ watchlist_id: id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [20, 20]);
  assert.equal(player.refused('createWatchlist', {}, { name: 'One more' }), 'TOO_MANY_WATCHLISTS');
  player.ask('deleteWatchlist', {}, { watchlist_id: '40218991' });
  // The lowest id that is free is taken again.
  assert.equal(player.ask('createWatchlist', {}, { name: 'Again' }).watchlist_id, '40218991');
  assert.equal(player.refused('createWatchlist', {}, { name: 'One more' }), 'TOO_MANY_WATCHLISTS');

  const symbols = [...player.world.universe.values()]
    .filter(({ category, symbol }) => category === 'US_STOCK' && !['AAPL', 'MSFT', 'NVDA'].includes(symbol))
    .map(({ symbol }) => ({ symbol, category: 'US_STOCK' }));
  const add = (instruments: object[]) =>
    ['addWatchlistInstruments', {}, { watchlist_id: '40218991', instruments }] as const;
  player.ask(...add(symbols.slice(0, 996)));
  assert.equal(player.refused(...add(symbols.slice(990, 998))), 'TOO_MANY_INSTRUMENTS');
  player.ask(...add(symbols.slice(996, 997)));
  assert.equal(player.refused(...add(symbols.slice(997, 998))), 'TOO_MANY_INSTRUMENTS');
  player.ask(...add(symbols.slice(0, 997)));
});
