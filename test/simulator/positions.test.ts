import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { createWorld } from '../../infra/simulator/world.ts';
import { each } from '../support/each.ts';
import { newOrder } from '../support/orders.ts';
import { cents, type Json, play } from './player.ts';
import { testTime } from './support.ts';
import {
  account_id,
  assertConsistent,
  balance,
  cashAccount,
  held,
  positions,
  priceOf,
  refused,
  trade,
} from './trader.ts';

test('from the start there are shares, and options with two legs; and the history of how they came', () => {
  const player = play();
  const shares = held(player, 'AAPL');
  assert.deepEqual([shares.quantity, cents(shares.last_price)], ['25', priceOf(player, 'AAPL')]);
  const spread = held(player, 'MSFT', 'OPTION');
  assert.deepEqual([spread.quantity, spread.option_strategy], ['1', 'VERTICAL']);
  assert.deepEqual(
    spread.legs.map((leg: Json) => [leg.quantity, leg.side, leg.option_exercise_price]),
    [
      ['1', 'BUY', '520.00'],
      ['-1', 'SELL', '540.00'],
    ],
  );
  const options = player.ask('getOptionSnapshots', {
    symbols: 'MSFT270115C00520000,MSFT270115C00540000',
    category: 'US_OPTION',
  });
  assert.deepEqual(
    spread.legs.map((leg: Json) => leg.last_price),
    options.map((one: Json) => one.price),
  );
  assert.equal(cents(spread.last_price), cents(options[0].price) - cents(options[1].price));
  assertConsistent(player);
  assert.deepEqual(positions(player, cashAccount), []);
  assert.equal(balance(player, cashAccount).total_cash_balance, '250000.00');

  const history = player.pages('listOrderHistory', {
    account_id,
    start_time: '2026-01-01T00:00:00.000Z',
  }).records;
  const bought = history
    .flatMap((group) => group.orders)
    .filter((order) => order.symbol === 'AAPL' && order.status === 'FILLED');
  assert.deepEqual(each(bought, 'filled_quantity'), ['10', '15']);
  const paid = bought.reduce(
    (sum, order) => sum + Number(order.filled_quantity) * cents(order.filled_price),
    0,
  );
  assert.equal(Number(shares.cost_price) * 25 * 100, paid);
});

test('what was there from the start is there at any time of the clock, and none of it was placed', () => {
  for (const clock of [0, Date.UTC(2020, 0), Date.UTC(2030, 0)]) {
    const player = play();
    player.now = clock;
    for (const id of ['gw-20261020-000001', 'gw-20261020-000002', 'gw-20261020-000003'])
      assert.equal(player.ask('getOrder', { account_id, client_order_id: id }).orders[0].status, 'SUBMITTED');
    const [filled] = player.ask('getOrder', { account_id, client_order_id: 'gw-20261014-000031' }).orders;
    assert.equal(filled.status, 'FILLED');
    assert.ok(positions(player).length > 0);
    assert.deepEqual(player.world.orders.all, []);
  }
});

test('a purchase adds at average cost and takes the cash; a sale gives it back', () => {
  const player = play();
  const [before, cash] = [held(player, 'MSFT'), cents(balance(player).total_cash_balance)];
  const bought = trade(player, { symbol: 'MSFT', quantity: '30' });
  const paid = 30 * cents(bought.filled_price);
  const after = held(player, 'MSFT');
  const total = Number(before.quantity) + 30;
  assert.equal(Number(after.quantity), total);
  const cost = Number(before.quantity) * Number(before.cost_price) * 100 + paid;
  assert.ok(Math.abs(Number(after.cost_price) * 100 - cost / total) < 0.01);
  assert.equal(cents(balance(player).total_cash_balance), cash - paid);
  assertConsistent(player);

  const sold = trade(player, { symbol: 'MSFT', quantity: String(total), side: 'SELL' });
  assert.equal(held(player, 'MSFT'), undefined);
  const fee = cents(sold.fees[0].actual_value);
  assert.ok(fee > 0);
  assert.equal(
    cents(balance(player).total_cash_balance),
    cash - paid + total * cents(sold.filled_price) - fee,
  );
  assertConsistent(player);
});

test('what is left after a sale has cost what it did', () => {
  const player = play();
  player.now = Date.UTC(2026, 10, 3);
  trade(player, { symbol: 'KO', quantity: '10' });
  player.now = testTime;
  trade(player, { symbol: 'KO', quantity: '10' });
  const { cost_price: cost } = held(player, 'KO');
  assert.ok(Math.abs(Number(cost) * 100 - priceOf(player, 'KO')) > 10, 'the price is another one');
  trade(player, { symbol: 'KO', quantity: '5', side: 'SELL' });
  assert.deepEqual([held(player, 'KO').quantity, held(player, 'KO').cost_price], ['15', cost]);
  assertConsistent(player);
});

test('half filled, half held', () => {
  const player = play();
  player.ask('placeOrder', {}, { account_id, new_orders: [newOrder({ symbol: 'KO', quantity: '7' })] });
  assert.equal(held(player, 'KO'), undefined);
  player.now += 2000;
  assert.equal(held(player, 'KO').quantity, '4');
  player.now += 2000;
  assert.equal(held(player, 'KO').quantity, '7');
});

test('fractions, and amounts of money', () => {
  const player = play();
  const cash = cents(balance(player).total_cash_balance);
  const part = trade(player, { symbol: 'KO', quantity: '0.12345' });
  assert.deepEqual([part.total_quantity, held(player, 'KO').quantity], ['0.12345', '0.12345']);
  assert.equal(
    cents(balance(player).total_cash_balance),
    cash - Math.round(0.12345 * cents(part.filled_price)),
  );
  const bought = trade(player, {
    symbol: 'PEP',
    entrust_type: 'AMOUNT',
    quantity: undefined,
    total_cash_amount: '500',
  });
  const spent = Number(bought.filled_quantity) * cents(bought.filled_price);
  assert.ok(Math.abs(spent - 50_000) < 1, `${spent}`);
  assertConsistent(player);
  for (const quantity of ['0.000001', '1e3', '0', '-1'])
    assert.equal(refused(player, { symbol: 'KO', quantity }), 'OPENAPI_PARAM_ERR', quantity);
});

test('after any trades cash and positions agree', () => {
  const world = createWorld(3);
  const symbols = ['AAPL', 'MSFT', 'KO', 'F'];
  const orders = fc.array(
    fc.record({
      symbol: fc.constantFrom(...symbols),
      side: fc.constantFrom('BUY', 'BUY', 'SELL', 'SHORT'),
      quantity: fc.constantFrom('1', '2', '5', '0.5', '13'),
    }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(orders, (list) => {
      const player = play(createWorld(world.seed));
      const start = balance(player);
      let cash = cents(start.total_cash_balance);
      const quantities = new Map(
        symbols.map((symbol) => [symbol, Number(held(player, symbol)?.quantity ?? 0)]),
      );
      for (const wanted of list) {
        const sign = wanted.side === 'BUY' ? 1 : -1;
        const has = quantities.get(wanted.symbol)!;
        if (wanted.side === 'SELL' && has < Number(wanted.quantity)) {
          assert.equal(refused(player, wanted), 'CAN_SELL_QTY_NOT_ENOUGH');
          continue;
        }
        const { filled_price, fees = [], status } = trade(player, wanted);
        assert.equal(status, 'FILLED');
        const amount = Number(wanted.quantity) * cents(filled_price);
        cash -=
          sign * Math.round(amount) +
          fees.reduce((sum: number, fee: Json) => sum + cents(fee.actual_value), 0);
        quantities.set(wanted.symbol, has + sign * Number(wanted.quantity));
      }
      // Half a cent a trade is lost to rounding fractions of a share.
      assert.ok(Math.abs(cents(balance(player).total_cash_balance) - cash) <= list.length);
      for (const [symbol, quantity] of quantities)
        assert.equal(Number(held(player, symbol)?.quantity ?? 0), quantity);
      assertConsistent(player);
    }),
    { numRuns: 40 },
  );
});
