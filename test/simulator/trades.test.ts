import assert from 'node:assert/strict';
import { test } from 'vitest';
import { barTime, cents, type Json, play } from './player.ts';
import { testTime } from './support.ts';

const player = play();
const stock = { symbol: 'AAPL', category: 'US_STOCK' };
const snapshot = (more: Record<string, string> = {}): Json =>
  player.ask('getStockSnapshots', { symbols: 'AAPL', category: 'US_STOCK', ...more })[0];

test('depth begins at the snapshot’s bid and ask and goes away from them', () => {
  const now = snapshot();
  const { asks, bids, quote_time } = player.ask('getStockQuotes', { ...stock, depth: '50' });
  assert.deepEqual([asks.length, bids.length, quote_time], [50, 50, now.last_trade_time]);
  assert.deepEqual(
    [asks[0].price, asks[0].size, bids[0].price, bids[0].size],
    [now.ask, now.ask_size, now.bid, now.bid_size],
  );
  for (let level = 1; level < 50; level++) {
    assert.ok(cents(asks[level].price) > cents(asks[level - 1].price));
    assert.ok(cents(bids[level].price) < cents(bids[level - 1].price));
  }
  assert.equal(player.ask('getStockQuotes', stock).asks.length, 10);
  const night = player.ask('getStockQuotes', { ...stock, overnight_required: 'true' });
  const { ovn_ask, ovn_bid } = snapshot({ overnight_required: 'true' });
  assert.deepEqual([night.asks[0].price, night.bids[0].price], [ovn_ask, ovn_bid]);
  assert.equal(player.refused('getStockQuotes', { ...stock, category: 'US_ETF' }), 'INVALID_SYMBOL');
});

test('ticks: newest first, the newest the last trade of the snapshot, over midnight too', () => {
  for (const now of [testTime, Date.UTC(2026, 10, 17, 0, 0, 30)]) {
    player.now = now;
    const { result } = player.ask('listStockTicks', { ...stock, count: '300' });
    const { price, last_trade_time } = snapshot();
    assert.equal(result.length, 300);
    assert.deepEqual([result[0].price, result[0].time], [price, String(last_trade_time)]);
    for (let at = 1; at < 300; at++) {
      assert.ok(Number(result[at].time) < Number(result[at - 1].time));
      const move = cents(result[at - 1].price) - cents(result[at].price);
      assert.equal(result[at - 1].side, move > 0 ? 'S' : move < 0 ? 'B' : 'N');
    }
  }
  player.now = testTime;
  const [pre] = player.ask('listStockTicks', { ...stock, count: '1', trading_sessions: 'PRE' }).result;
  assert.equal(pre.price, snapshot({ extend_hour_required: 'true' }).extend_hour_last_price);
  const [after] = player.ask('listStockTicks', { ...stock, count: '1', trading_sessions: 'ATH' }).result;
  assert.ok(Number(after.time) < Date.UTC(2026, 10, 17) && after.trading_session === 'ATH');
});

test('ticks add up to the volume of their minute', () => {
  player.now = Date.UTC(2026, 10, 17, 9, 31, 0);
  const [bar] = player.ask('getStockBars', {
    real_time_required: 'false',
    ...stock,
    timespan: 'M1',
    count: '1',
  });
  const { result } = player.ask('listStockTicks', { ...stock, count: '400' });
  const start = barTime(bar);
  const ofMinute = result.filter(({ time }: Json) => Number(time) >= start && Number(time) < start + 60_000);
  const sum = ofMinute.reduce((total: number, { volume }: Json) => total + Number(volume), 0);
  // The first trade brings what was traded since the one before it, in the minute before.
  assert.ok(Math.abs(sum - Number(bar.volume)) <= 2 * Number(result[0].volume), `${sum} of ${bar.volume}`);
  assert.equal(Number(ofMinute.at(-1).time) >= start, true);
  player.now = testTime;
});

test('auctions and footprints have what was asked for, of known symbols of the category', () => {
  const auction = { ...stock, imbalance_action_type: 'PRE_OPEN' };
  const print = { symbols: 'AAPL,MSFT', category: 'US_STOCK', timespan: 'M5', count: '3' };
  for (const one of [
    player.ask('getStockNoiiSnapshot', auction),
    ...player.ask('listStockNoiiBars', auction),
  ])
    assert.deepEqual([one.symbol, one.imbalance_action_type], ['AAPL', 'PRE_OPEN']);
  const prints = player.ask('listStockFootprints', print);
  assert.deepEqual(
    prints.map(({ symbol, result }: Json) => [symbol, result.length]),
    [
      ['AAPL', 3],
      ['MSFT', 3],
    ],
  );
  for (const [id, query] of [
    ['getStockNoiiSnapshot', { ...auction, symbol: 'NOPE9' }],
    ['listStockNoiiBars', { ...auction, category: 'US_ETF' }],
    ['listStockFootprints', { ...print, symbols: 'AAPL,QQQ' }],
  ] as const)
    assert.equal(player.refused(id, query), 'INVALID_SYMBOL');
});
