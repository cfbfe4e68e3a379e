import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { barTime, cents, type Json, play } from '../player.ts';
import { dollars, place, priceOf, show } from '../trader.ts';

test('a limit that is met at once fills at the better price of the market', () => {
  const player = play();
  const price = priceOf(player);
  const buy = place(player, { order_type: 'LIMIT', limit_price: dollars(price + 500) });
  const sell = place(player, { order_type: 'LIMIT', side: 'SELL', limit_price: dollars(price - 500) });
  player.now += 4000;
  assert.deepEqual(
    [show(player, buy).filled_price, show(player, sell).filled_price],
    [dollars(price), dollars(price)],
  );
});

test('a limit waits until the price comes, and bars show that it came then and not before', () => {
  // Farther than one tick: the first bar opens at a trade from before the order, which may have been that near.
  const offset = fc.integer({ min: 3, max: 150 });
  fc.assert(
    fc.property(
      fc.constantFrom('BUY', 'SELL'),
      offset,
      fc.integer({ min: 0, max: 60 }),
      (side, away, day) => {
        const player = play();
        player.now = Date.UTC(2026, 8, 1 + day, 3);
        const price = priceOf(player);
        const limit = price + (side === 'BUY' ? -away : away);
        const placedAt = player.now;
        const id = place(player, {
          side,
          quantity: '1',
          order_type: 'LIMIT',
          limit_price: dollars(limit),
          time_in_force: 'GTC',
        });
        player.now += 20 * 3_600_000;
        const order = show(player, id);
        const bars: Json[] = player.ask('getStockBars', {
          real_time_required: 'false',
          symbol: 'MSFT',
          category: 'US_STOCK',
          timespan: 'M1',
          count: '1200',
          start_time: String(placedAt),
        });
        const came = (bar: Json) => (side === 'BUY' ? cents(bar.low) <= limit : cents(bar.high) >= limit);
        const first = bars.find(came);
        if (!first) {
          assert.equal(order.status, 'SUBMITTED');
          return;
        }
        assert.equal(order.status, 'FILLED');
        const struck = order.filled_time - 4000;
        // The bar's prices are those up to its last trade, a few seconds before its end.
        assert.ok(
          struck <= barTime(first) + 60_000 && struck >= barTime(first) - 3000,
          `${struck - barTime(first)}`,
        );
        const filled = cents(order.filled_price);
        assert.ok(
          side === 'BUY' ? filled <= limit && filled >= limit - 5 : filled >= limit && filled <= limit + 5,
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('a stop waits for its price, then takes the market’s or its own limit', () => {
  const player = play();
  player.now = Date.UTC(2026, 8, 3, 0, 5);
  const bars = () => {
    const later = play();
    later.now = Date.UTC(2026, 8, 4);
    return later.ask('getStockBars', {
      symbol: 'MSFT',
      category: 'US_STOCK',
      timespan: 'D',
      count: '1',
      real_time_required: 'false',
    })[0];
  };
  const day = bars();
  const price = priceOf(player);
  const below = Math.round((price + cents(day.low)) / 2);
  const above = Math.round((price + cents(day.high)) / 2);
  assert.ok(below < price - 5 && above > price + 5, 'a day that goes both ways');
  const sellStop = place(player, {
    side: 'SELL',
    quantity: '1',
    order_type: 'STOP_LOSS',
    stop_price: dollars(below),
  });
  const buyStop = place(player, { quantity: '1', order_type: 'STOP_LOSS', stop_price: dollars(above) });
  const limited = place(player, {
    quantity: '1',
    order_type: 'STOP_LOSS_LIMIT',
    stop_price: dollars(above),
    limit_price: dollars(above - 20),
  });
  const roomy = place(player, {
    quantity: '1',
    order_type: 'STOP_LOSS_LIMIT',
    stop_price: dollars(above),
    limit_price: dollars(above + 1),
  });
  const trailing = place(player, {
    side: 'SELL',
    quantity: '1',
    order_type: 'TRAILING_STOP_LOSS',
    trailing_type: 'AMOUNT',
    trailing_stop_step: '1.50',
  });
  for (const id of [sellStop, buyStop, limited, roomy, trailing])
    assert.equal(show(player, id).status, 'SUBMITTED');
  player.now = Date.UTC(2026, 8, 3, 23, 59, 50);
  const sold = show(player, sellStop);
  assert.ok(
    sold.status === 'FILLED' && cents(sold.filled_price) <= below && cents(sold.filled_price) >= below - 5,
  );
  const bought = show(player, buyStop);
  assert.ok(
    bought.status === 'FILLED' &&
      cents(bought.filled_price) >= above &&
      cents(bought.filled_price) <= above + 5,
  );
  const after = show(player, limited);
  // Not at once, for when it was stopped the price was above the limit.
  assert.ok(
    after.status !== 'FILLED' ||
      (cents(after.filled_price) <= above - 20 && after.filled_time > bought.filled_time),
  );
  // With room above the stop, it fills where it was stopped, not at the better price of before.
  const filled = show(player, roomy);
  assert.ok(filled.status === 'FILLED' && cents(filled.filled_price) >= above);
  assert.ok(cents(filled.filled_price) <= above + 1);
  const trailed = show(player, trailing);
  assert.equal(trailed.status, 'FILLED');
  const before = player.ask('getStockBars', {
    real_time_required: 'false',
    symbol: 'MSFT',
    category: 'US_STOCK',
    timespan: 'M1',
    count: '1200',
    start_time: String(Date.UTC(2026, 8, 3, 0, 5)),
    end_time: String(trailed.filled_time - 4000),
  });
  const peak = Math.max(price, ...before.map(({ high }: Json) => cents(high)));
  assert.ok(Math.abs(peak - 150 - cents(trailed.filled_price)) <= 10);
});

test('time in force: the day’s order runs out with the day, others at once or never', () => {
  const player = play();
  const far = { order_type: 'LIMIT', limit_price: '1.00' };
  const day = place(player, { ...far, time_in_force: 'DAY' });
  const standing = place(player, { ...far, time_in_force: 'GTC' });
  const until = place(player, { ...far, time_in_force: 'GTD', expire_date: '2026-11-20' });
  const now = place(player, { ...far, time_in_force: 'IOC' });
  const status = (id: string) => show(player, id).status;
  assert.deepEqual([day, standing, until, now].map(status), [
    'SUBMITTED',
    'SUBMITTED',
    'SUBMITTED',
    'CANCELLED',
  ]);
  player.now = Date.UTC(2026, 10, 18);
  assert.deepEqual([day, standing, until].map(status), ['CANCELLED', 'SUBMITTED', 'SUBMITTED']);
  player.now = Date.UTC(2026, 10, 21);
  assert.deepEqual([standing, until].map(status), ['SUBMITTED', 'CANCELLED']);
  const whole = place(player, { time_in_force: 'FOK' });
  player.now += 3000;
  assert.equal(status(whole), 'SUBMITTED');
  player.now += 1000;
  assert.equal(status(whole), 'FILLED');
});
