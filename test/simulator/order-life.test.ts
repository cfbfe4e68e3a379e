import assert from 'node:assert/strict';
import { test } from 'vitest';
import { newOrder } from '../support/orders.ts';
import { play } from './player.ts';
import { testTime } from './support.ts';
import { account_id, dollars, place, priceOf, show } from './trader.ts';

test('a market order: submitted, half filled after two seconds, filled after four, at the snapshot’s price', () => {
  const player = play();
  const price = dollars(priceOf(player));
  const id = place(player);
  const at = (ms: number) => {
    player.now = testTime + ms;
    const { status, filled_quantity, filled_price, filled_time } = show(player, id);
    return [status, filled_quantity, filled_price, filled_time];
  };
  assert.deepEqual(at(0), ['SUBMITTED', '0', null, undefined]);
  assert.deepEqual(at(1999), ['SUBMITTED', '0', null, undefined]);
  assert.deepEqual(at(2000), ['PARTIAL_FILLED', '5', price, testTime + 2000]);
  assert.deepEqual(at(4000), ['FILLED', '10', price, testTime + 4000]);
  assert.equal(show(player, id).filled_time_at, new Date(testTime + 4000).toISOString());
});

test('who looks only at the end sees what who looks all the time sees', () => {
  const orders = [
    {},
    { quantity: '7', order_type: 'LIMIT', limit_price: '999.00' },
    { side: 'SELL', quantity: '3' },
  ];
  const [often, once] = [play(), play()];
  const ids = orders.map((order) => [place(often, order), place(once, order)] as const);
  for (let ms = 0; ms <= 5000; ms += 250) {
    often.now = testTime + ms;
    for (const [id] of ids) show(often, id);
  }
  once.now = testTime + 5000;
  for (const [a, b] of ids) {
    const { client_order_id: _a, ...one } = show(often, a);
    const { client_order_id: _b, ...other } = show(once, b);
    assert.deepEqual(one, other);
  }
});

test('cancelled: what is filled stays, and a second time is refused', () => {
  const player = play();
  const id = place(player);
  player.now += 2500;
  const placed = show(player, id);
  const cancel = ['cancelOrder', {}, { account_id, client_order_id: id }] as const;
  assert.deepEqual(player.ask(...cancel), { client_order_id: id, order_id: placed.order_id });
  player.now += 60_000;
  const { status, filled_quantity } = show(player, id);
  assert.deepEqual([status, filled_quantity], ['CANCELLED', '5']);
  assert.equal(player.refused(...cancel), 'ORDER_STATUS_ILLEGAL');
  const filled = place(player);
  player.now += 4000;
  assert.equal(
    player.refused('cancelOrder', {}, { account_id, client_order_id: filled }),
    'ORDER_STATUS_ILLEGAL',
  );
  assert.equal(
    player.refused('cancelOrder', {}, { account_id, client_order_id: 'nobody' }),
    'OPENAPI_ORDER_NOT_FOUND',
  );
});

test('replaced: new terms for what is not filled', () => {
  const player = play();
  const id = place(player, { order_type: 'LIMIT', limit_price: '1.00' });
  const replace = (change: object) =>
    ['replaceOrder', {}, { account_id, modify_orders: [{ client_order_id: id, ...change }] }] as const;
  player.ask(...replace({ limit_price: '1.10', quantity: '8' }));
  const changed = show(player, id);
  assert.deepEqual([changed.limit_price, changed.total_quantity, changed.status], ['1.10', '8', 'SUBMITTED']);
  for (const [change, code] of [
    [{ quantity: '0' }, 'OPENAPI_PARAM_ERR'],
    [{ limit_price: '0' }, 'ORDER_PRICE_ILLEGAL'],
    [{ order_type: 'STOP_LOSS' }, 'ORDER_PRICE_ILLEGAL'],
  ] as const)
    assert.equal(player.refused(...replace(change)), code);
  assert.deepEqual(show(player, id), changed);

  // At a price that the market takes, it is struck from now on.
  const price = priceOf(player);
  player.ask(...replace({ limit_price: dollars(price + 100) }));
  player.now += 2000;
  assert.deepEqual([show(player, id).status, show(player, id).filled_quantity], ['PARTIAL_FILLED', '4']);
  assert.equal(player.refused(...replace({ quantity: '4' })), 'OPENAPI_PARAM_ERR');
  player.ask(...replace({ limit_price: '1.00', quantity: '9' }));
  player.now += 60_000;
  const rest = show(player, id);
  assert.deepEqual([rest.status, rest.filled_quantity, rest.total_quantity], ['PARTIAL_FILLED', '4', '9']);
  player.ask(...replace({ order_type: 'MARKET' }));
  player.now += 4000;
  assert.deepEqual([show(player, id).status, show(player, id).filled_quantity], ['FILLED', '9']);
  assert.equal(player.refused(...replace({ quantity: '20' })), 'ORDER_STATUS_ILLEGAL');
});

test('a combination: the exits wait for the master, and the first that is struck ends the other', () => {
  const player = play();
  const price = priceOf(player);
  const exit = { side: 'SELL', quantity: '10', symbol: 'MSFT', time_in_force: 'GTC' };
  const parts = [
    newOrder({ combo_type: 'MASTER', symbol: 'MSFT', quantity: '10' }),
    newOrder({ ...exit, combo_type: 'STOP_PROFIT', order_type: 'LIMIT', limit_price: dollars(price - 100) }),
    newOrder({ ...exit, combo_type: 'STOP_LOSS', order_type: 'STOP_LOSS', stop_price: '1.00' }),
  ];
  player.ask('placeOrder', {}, { account_id, client_combo_order_id: 'bracket', new_orders: parts });
  const [master, profit, loss] = parts.map((part) => part.client_order_id) as [string, string, string];
  const statuses = () => [master, profit, loss].map((id) => show(player, id).status);
  assert.deepEqual(statuses(), ['SUBMITTED', 'PENDING', 'PENDING']);
  player.now = testTime + 4000;
  assert.deepEqual(statuses(), ['FILLED', 'SUBMITTED', 'CANCELLED']);
  player.now = testTime + 8000;
  assert.deepEqual(statuses(), ['FILLED', 'FILLED', 'CANCELLED']);
  assert.equal(
    player.ask('getOrder', { account_id, client_order_id: loss }).client_combo_order_id,
    'bracket',
  );

  const again = [
    newOrder({ combo_type: 'MASTER', symbol: 'MSFT', order_type: 'LIMIT', limit_price: '1.00' }),
    newOrder({ ...exit, combo_type: 'STOP_LOSS', order_type: 'STOP_LOSS', stop_price: '1.00' }),
  ];
  player.ask('placeOrder', {}, { account_id, client_combo_order_id: 'second', new_orders: again });
  player.ask('cancelOrder', {}, { account_id, client_order_id: again[0]!.client_order_id });
  assert.equal(show(player, again[0]!.client_order_id).status, 'CANCELLED');
});
