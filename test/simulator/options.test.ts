import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { cents, type Json, play } from './player.ts';
import { testTime as closed } from './support.ts';

/** Within the regular session, for only there greeks are reported. */
const testTime = closed + 6 * 3_600_000;

const player = play();
player.now = testTime;
const list = (query: Record<string, string>) =>
  player.pages('listOptionContracts', { category: 'US_OPTION', ...query }).records;
const snapshots = (...symbols: string[]): Json[] =>
  player.ask('getOptionSnapshots', { symbols: symbols.join(','), category: 'US_OPTION' });
const priceOf = (symbol: string): number =>
  cents(player.ask('getStockSnapshots', { symbols: symbol, category: 'US_STOCK' })[0].price);

const listed = list({ underlying_symbols: 'AAPL' });
const contract = fc.constantFrom(...listed);
const times = fc.integer({ min: Date.UTC(2026, 9, 1), max: Date.UTC(2026, 10, 19) });

test('the contracts of an underlying: every page once, in order, third Fridays, strikes around the price', () => {
  const { records, count } = player.pages('listOptionContracts', {
    category: 'US_OPTION',
    underlying_symbols: 'AAPL,MSFT',
  });
  assert.ok(count > 10);
  assert.equal(new Set(records.map(({ symbol }) => symbol)).size, records.length);
  assert.equal(new Set(records.map(({ instrument_id: id }) => id)).size, records.length);
  assert.deepEqual(
    records.filter((one) => one.underlying_symbol === 'AAPL'),
    listed,
  );
  const price = priceOf('AAPL');
  for (const type of ['CALL', 'PUT']) {
    const strikes = listed
      .filter((one) => one.option_type === type && one.expiration_date === '2027-01-15')
      .map((one) => cents(one.strike_price));
    assert.ok(Math.min(...strikes) < 0.8 * price && Math.max(...strikes) > 1.2 * price);
    assert.deepEqual(
      strikes,
      [...strikes].sort((a, b) => a - b),
    );
  }
  for (const { expiration_date: date } of listed) {
    const day = new Date(`${date}T00:00:00Z`);
    assert.equal(day.getUTCDay(), 5);
    assert.ok(day.getUTCDate() > 14 && day.getUTCDate() < 22);
  }
});

test('contracts of all underlyings are paged through too, and a cursor is one that was given', () => {
  const first = player.ask('listOptionContracts', { category: 'US_OPTION' });
  assert.equal(first.data.length, 100);
  const next = player.ask('listOptionContracts', {
    category: 'US_OPTION',
    pagination_key: first.pagination_key,
  });
  assert.notEqual(next.data[0].symbol, first.data[99].symbol);
  for (const pagination_key of ['x', first.pagination_key.slice(1), `${first.pagination_key}x`])
    assert.equal(
      player.refused('listOptionContracts', { category: 'US_OPTION', pagination_key }),
      'OPENAPI_PARAM_ERR',
    );
});

test('each filter leaves what it says', () => {
  const filters: readonly (readonly [Record<string, string>, (one: Json) => boolean])[] = [
    [{ option_type: 'PUT' }, (one) => one.option_type === 'PUT'],
    [{ start_date: '2027-01-15' }, (one) => one.expiration_date === '2027-01-15'],
    [{ end_date: '2027-03-19' }, (one) => one.expiration_date >= '2027-03-19'],
    [
      { strike_price_gte: '230', strike_price_lte: '250' },
      (one) => cents(one.strike_price) >= 23_000 && cents(one.strike_price) <= 25_000,
    ],
    [{ root_symbol: 'AAPL' }, () => true],
    [{ root_symbol: 'MSFT' }, () => false],
    [{ style: 'EUROPEAN' }, () => false],
    [{ status: 'DELISTING' }, () => false],
    [{ ppind: String(listed[0].ppind) }, () => true],
    [{ ppind: String(!listed[0].ppind) }, () => false],
  ];
  for (const [filter, wanted] of filters)
    assert.deepEqual(
      list({ underlying_symbols: 'AAPL', ...filter }),
      listed.filter(wanted),
      JSON.stringify(filter),
    );
  assert.ok(!('deliverables' in listed[0]));
  const [with_] = list({ option_symbols: listed[0].symbol, show_deliverables: 'true' });
  assert.equal(with_.deliverables[0].symbol, 'AAPL');
  const { deliverables: _added, ...same } = with_;
  assert.deepEqual(same, listed[0]);
  const [expired] = list({ option_symbols: 'AAPL260116C00240000', status: 'DELISTING' });
  assert.equal(expired.status, 'DELISTING');
  assert.deepEqual(list({ option_symbols: 'AAPL260116C00240000,NOPE9270115C00240000' }), []);
});

test('every listed contract has a snapshot that agrees with itself and its underlying', () => {
  fc.assert(
    fc.property(
      contract,
      times,
      ({ symbol, option_type: type, strike_price: strike, instrument_id: id }, now) => {
        player.now = now;
        const [one] = snapshots(symbol);
        const [price, open, high, low] = [one.price, one.open, one.high, one.low].map(cents) as [
          number,
          number,
          number,
          number,
        ];
        assert.ok(low <= Math.min(open, price) && Math.max(open, price) <= high && low > 0);
        assert.ok(cents(one.bid) < price && price < cents(one.ask));
        assert.equal(cents(one.change), price - cents(one.pre_close));
        assert.deepEqual([one.instrument_id, Number(one.strike_price)], [id, Number(strike)]);
        assert.ok(one.last_trade_time <= now);
        // Outside the regular session they are not reported.
        const [delta, gamma, vega] = [one.delta, one.gamma, one.vega].map(Number) as [number, number, number];
        assert.ok(type === 'CALL' ? delta >= 0 && delta <= 1 : delta <= 0 && delta >= -1);
        assert.ok(gamma >= 0 && vega >= 0);
        // Seconds may lie between the two last trades.
        const spot = priceOf('AAPL');
        const intrinsic = Math.max(0, type === 'CALL' ? spot - cents(strike) : cents(strike) - spot);
        assert.ok(price >= intrinsic - 0.01 * spot, `${price} for ${intrinsic}`);
        assert.ok(price <= Math.max(spot, cents(strike)));
      },
    ),
    { numRuns: 150 },
  );
  player.now = testTime;
});

test('what is farther in the money is worth more', () => {
  const price = (type: string, strike: string) => cents(snapshots(`AAPL270115${type}${strike}`)[0].price);
  assert.ok(
    price('C', '00230000') > price('C', '00250000') && price('C', '00250000') > price('C', '00270000'),
  );
  assert.ok(price('P', '00230000') < price('P', '00270000'));
});

test('bars of options end at the snapshot, make up its day, and stop at the expiry', () => {
  fc.assert(
    fc.property(
      contract,
      times,
      fc.constantFrom('M1', 'M5', 'M60', 'D', 'W'),
      ({ symbol }, now, timespan) => {
        player.now = now;
        const ask = (more: Record<string, string>): Json[] =>
          player.ask('listOptionBars', { symbols: symbol, category: 'US_OPTION', count: '3', ...more })[0]
            .result;
        const [one] = snapshots(symbol);
        const bars = ask({ timespan, real_time_required: 'true' });
        assert.equal(bars.at(-1).close, one.price);
        for (const bar of bars) {
          const ends = [bar.open, bar.close].map(cents);
          assert.ok(cents(bar.low) <= Math.min(...ends) && Math.max(...ends) <= cents(bar.high));
        }
        const today = ask({ timespan: 'D', real_time_required: 'true' }).at(-1);
        assert.deepEqual(
          [today.open, today.high, today.low, today.volume],
          [one.open, one.high, one.low, one.volume],
        );
      },
    ),
    { numRuns: 60 },
  );
  player.now = Date.UTC(2027, 5, 1);
  const expired = { symbols: 'AAPL270115C00240000', category: 'US_OPTION' };
  const last = player.ask('listOptionBars', { ...expired, timespan: 'D', count: '1' })[0].result[0];
  assert.equal(last.time, '2027-01-15T00:00:00.000+0000');
  const [still] = snapshots('AAPL270115C00240000');
  assert.ok(still.last_trade_time < Date.UTC(2027, 0, 16));
  player.now = testTime;
});

test('ticks of options: newest first, the newest that of the snapshot', () => {
  const symbol = 'AAPL270115C00240000';
  const { result } = player.ask('listOptionTicks', { symbol, category: 'US_OPTION', count: '50' });
  const [one] = snapshots(symbol);
  assert.deepEqual(
    [result.length, result[0].time, result[0].price],
    [50, String(one.last_trade_time), one.price],
  );
  for (let at = 1; at < 50; at++) assert.ok(Number(result[at].time) < Number(result[at - 1].time));
});

test('a symbol that means nothing is refused by name', () => {
  for (const symbol of [
    'AAPL',
    'NOPE9270115C00240000',
    'AAPL270230C00240000',
    'AAPL270115X00240000',
    'AAPL270115C00000000',
  ]) {
    assert.equal(
      player.refused('getOptionSnapshots', {
        symbols: `AAPL270115C00240000,${symbol}`,
        category: 'US_OPTION',
      }),
      'INVALID_SYMBOL',
    );
    assert.equal(
      player.refused('listOptionTicks', { symbol, category: 'US_OPTION', count: '1' }),
      'INVALID_SYMBOL',
    );
  }
});
