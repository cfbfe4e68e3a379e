import assert from 'node:assert/strict';
import { test } from 'vitest';
import { newOrder } from '../support/orders.ts';
import { play } from './player.ts';
import {
  account_id,
  assertConsistent,
  balance,
  cashAccount,
  held,
  priceOf,
  refused,
  trade,
} from './trader.ts';

test('what cannot be paid for or is not there is refused; open orders count', () => {
  const player = play();
  const most = Math.floor(25_000_000 / priceOf(player, 'MSFT'));
  const limit_price = (priceOf(player, 'MSFT') / 100).toFixed(2);
  const buy = (quantity: number) => ({
    symbol: 'MSFT',
    quantity: String(quantity),
    order_type: 'LIMIT',
    limit_price,
  });
  assert.equal(refused(player, buy(most + 1), cashAccount), 'DAY_BUYING_POWER_INSUFFICIENT');
  const far = {
    symbol: 'MSFT',
    quantity: '100',
    order_type: 'LIMIT',
    limit_price: '2.00',
    time_in_force: 'GTC',
  };
  player.ask('placeOrder', {}, { account_id: cashAccount, new_orders: [newOrder(far)] });
  const { frozen_amount, buying_power } = balance(player, cashAccount).account_currency_assets[0];
  assert.deepEqual([frozen_amount, buying_power], ['200.00', '249800.00']);
  assert.equal(refused(player, buy(most), cashAccount), 'DAY_BUYING_POWER_INSUFFICIENT');
  trade(player, buy(most - 1), cashAccount);

  assert.equal(refused(player, { symbol: 'KO', side: 'SELL' }), 'CAN_SELL_QTY_NOT_ENOUGH');
  assert.equal(refused(player, { symbol: 'KO', side: 'SHORT' }, cashAccount), 'CAN_SELL_QTY_NOT_ENOUGH');
  const offer = { symbol: 'AAPL', side: 'SELL', order_type: 'LIMIT', limit_price: '999.00' };
  player.ask('placeOrder', {}, { account_id, new_orders: [newOrder({ ...offer, quantity: '20' })] });
  assert.equal(held(player, 'AAPL').available_quantity, '5');
  assert.equal(refused(player, { ...offer, quantity: '6' }), 'CAN_SELL_QTY_NOT_ENOUGH');

  const [closed] = [...player.world.universe.values()].filter(({ status }) => status === 'NT');
  assert.equal(refused(player, { symbol: closed!.symbol }), 'INSTRUMENT_NOT_TRADABLE');
});

test('short: sold without having it, bought back, and past that', () => {
  const player = play();
  const sold = trade(player, { symbol: 'KO', side: 'SHORT', quantity: '10' });
  assert.equal(held(player, 'KO').quantity, '-10');
  assert.equal(Number(held(player, 'KO').cost_price), Number(sold.filled_price));
  assertConsistent(player);
  const bought = trade(player, { symbol: 'KO', quantity: '14' });
  assert.deepEqual(
    [held(player, 'KO').quantity, Number(held(player, 'KO').cost_price)],
    ['4', Number(bought.filled_price)],
  );
  assertConsistent(player);
});

test('an account that is not there is refused everywhere', () => {
  const player = play();
  const query = { account_id: 'nobody' };
  for (const id of ['getAccountBalance', 'listAccountPositions', 'listOpenOrders', 'listOrderHistory'])
    assert.equal(player.refused(id, query), 'ACCOUNT_ACCESS_DENIED', id);
  assert.equal(player.refused('getOrder', { ...query, client_order_id: 'x' }), 'ACCOUNT_ACCESS_DENIED');
  const cancel = { ...query, client_order_id: 'gw-20261020-000002' };
  assert.equal(player.refused('cancelOrder', {}, cancel), 'ACCOUNT_ACCESS_DENIED');
});
