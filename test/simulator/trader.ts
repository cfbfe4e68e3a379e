/** Trades in one of the simulator's accounts, and looks at what it holds. */

import assert from 'node:assert/strict';
import { newOrder } from '../support/orders.ts';
import { cents, type Json, type Player } from './player.ts';

export const account_id = 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S';
export const cashAccount = 'B1N6UY3G8W0JFS7QTC2IE9OH4M';

type Change = Readonly<Record<string, unknown>>;

/** Places an order and gives its client order id. */
export function place(player: Player, change: Change = {}): string {
  const order = newOrder({ symbol: 'MSFT', quantity: '10', ...change });
  player.ask('placeOrder', {}, { account_id, new_orders: [order] });
  return order.client_order_id;
}

export const show = (player: Player, client_order_id: string): Json =>
  player
    .ask('getOrder', { account_id, client_order_id })
    .orders.find((one: Json) => one.client_order_id === client_order_id);

/** Places an order, waits until the market has filled it, and shows it. */
export function trade(player: Player, change: Change, account = account_id): Json {
  const order = newOrder(change);
  player.ask('placeOrder', {}, { account_id: account, new_orders: [order] });
  player.now += 4000;
  return player.ask('getOrder', { account_id: account, client_order_id: order.client_order_id }).orders[0];
}

export const refused = (player: Player, change: Change, account = account_id): string =>
  player.refused('placeOrder', {}, { account_id: account, new_orders: [newOrder(change)] });

export const positions = (player: Player, account = account_id): Json[] =>
  player.ask('listAccountPositions', { account_id: account });

export const held = (player: Player, symbol: string, type = 'EQUITY'): Json =>
  positions(player).find((one) => one.symbol === symbol && one.instrument_type === type);

export const balance = (player: Player, account = account_id): Json =>
  player.ask('getAccountBalance', { account_id: account });

/** In cents. */
export const priceOf = (player: Player, symbol = 'MSFT'): number =>
  cents(player.ask('getStockSnapshots', { symbols: symbol, category: 'US_STOCK' })[0].price);

export const dollars = (price: number): string => (price / 100).toFixed(2);

/** Balance and positions tell the same story. */
export function assertConsistent(player: Player): void {
  const all = positions(player);
  const sum = (name: string) => all.reduce((total, one) => total + cents(one[name]), 0);
  const { account_currency_assets: assets, ...totals } = balance(player);
  assert.equal(cents(totals.total_market_value), sum('market_value'));
  assert.equal(cents(totals.total_unrealized_profit_loss), sum('unrealized_profit_loss'));
  assert.equal(
    cents(totals.total_net_liquidation_value),
    cents(totals.total_cash_balance) + cents(totals.total_market_value),
  );
  assert.equal(assets.length, 1);
  assert.equal(assets[0].cash_balance, totals.total_cash_balance);
  assert.equal(assets[0].market_value, totals.total_market_value);
  assert.equal(assets[0].day_profit_loss, totals.total_day_profit_loss);
  for (const one of all) {
    const size = Number(one.quantity) * (one.instrument_type === 'OPTION' ? 100 : 1);
    assert.ok(Math.abs(cents(one.market_value) - size * cents(one.last_price)) < 1);
    const cost = size * Number(one.cost_price) * 100;
    // The cost for one has four decimals, and the whole cost is exact.
    const profit = cents(one.market_value) - cost;
    assert.ok(Math.abs(cents(one.unrealized_profit_loss) - profit) <= 1 + Math.abs(size) / 100);
  }
}
