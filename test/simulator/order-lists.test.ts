import assert from 'node:assert/strict';
import { test } from 'vitest';
import { batchPlaceOrders } from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';
import { newOrder } from '../support/orders.ts';
import { cents, type Json, type Player, play } from './player.ts';
import { testTime } from './support.ts';

const account_id = 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S';
const far = { order_type: 'LIMIT', limit_price: '1.00', time_in_force: 'GTC' };

function place(player: Player, change: Readonly<Record<string, unknown>> = {}): string {
  const order = newOrder(change);
  player.ask('placeOrder', {}, { account_id, new_orders: [order] });
  return order.client_order_id;
}

const ids = (groups: readonly Json[]): string[] => groups.map((group) => group.client_order_id);

test('open orders: newest first, each once over the pages while orders are placed', () => {
  const player = play();
  const placed = Array.from({ length: 45 }, () => place(player, far));
  const standing = ids(player.ask('listOpenOrders', { account_id }).data.slice(-3));
  const { records, count } = player.pages('listOpenOrders', { account_id }, () => place(player, far));
  const expected = ['gw-20261020-000001', 'gw-20261020-000002', 'gw-20261020-000003', ...placed].reverse();
  assert.deepEqual(ids(records), expected);
  assert.equal(count, 3);
  assert.equal(standing.length, 3);
  for (const pagination_key of ['eHh4', 'cDF8MHxhYmM'])
    assert.equal(player.refused('listOpenOrders', { account_id, pagination_key }), 'OPENAPI_PARAM_ERR');
});

test('an order that is filled or cancelled is open no more, and in the history still', () => {
  const player = play();
  const [market, limited] = [place(player), place(player, far)];
  const open = () => ids(player.ask('listOpenOrders', { account_id }).data);
  assert.ok(open().includes(market) && open().includes(limited));
  player.now += 4000;
  assert.ok(!open().includes(market) && open().includes(limited));
  player.ask('cancelOrder', {}, { account_id, client_order_id: limited });
  assert.ok(!open().includes(limited));
  player.now += 2000;
  const history = player.ask('listOrderHistory', { account_id }).data;
  assert.deepEqual(ids(history), [limited, market]);
  assert.deepEqual(
    history.map((group: Json) => group.orders[0].status),
    ['CANCELLED', 'FILLED'],
  );
});

test('history: the last seven days, or the period asked for', () => {
  const player = play();
  player.now = testTime - 8 * 86_400_000;
  const before = place(player);
  player.now = testTime - 6 * 86_400_000;
  const recent = place(player);
  player.now = testTime;
  const history = (query: Record<string, string> = {}) =>
    ids(player.ask('listOrderHistory', { account_id, ...query }).data);
  assert.deepEqual(history(), [recent]);
  assert.deepEqual(history({ start_time: '2026-11-09T00:00:00Z' }), [recent, before]);
  assert.deepEqual(history({ start_time: '2026-11-09T00:00:00Z', end_time: '2026-11-10T00:00:00Z' }), [
    before,
  ]);
  assert.deepEqual(history({ end_time: '2026-09-01T00:00:00Z' }), ['gw-20260812-000004']);
  const inExample = history({ start_time: '2026-10-01T00:00:00Z', end_time: '2026-10-21T23:59:59.999Z' });
  assert.ok(inExample.includes('gw-20261014-000031'));
});

test('a combination is one entry, on one page', () => {
  const player = play();
  const parts = [newOrder({ ...far, combo_type: 'OCO' }), newOrder({ ...far, combo_type: 'OCO' })];
  player.ask('placeOrder', {}, { account_id, client_combo_order_id: 'pair', new_orders: parts });
  const [pair] = player.ask('listOpenOrders', { account_id }).data;
  assert.deepEqual([pair.client_combo_order_id, pair.combo_type, pair.orders.length], ['pair', 'OCO', 2]);
  const [first, second] = parts.map((part) => part.client_order_id);
  const cancel = { account_id, client_order_id: first, client_combo_order_id: 'pair' };
  assert.equal(
    player.refused('cancelOrder', {}, { ...cancel, client_combo_order_id: 'other' }),
    'OPENAPI_PARAM_ERR',
  );
  player.ask('cancelOrder', {}, cancel);
  const { orders } = player.ask('getOrder', { account_id, client_order_id: second! });
  assert.deepEqual(
    orders.map(({ status }: Json) => status),
    ['CANCELLED', 'CANCELLED'],
  );
});

test('a batch: each order for itself, and the failed ones say why', () => {
  const player = play();
  const [good] = (batchPlaceOrders.example.body as Json).batch_orders;
  const batch_orders = [
    good,
    { ...good, client_order_id: 'batched-002', symbol: 'NOPE9' },
    good,
    { ...good, client_order_id: 'batched-004', order_type: 'LIMIT', limit_price: '0' },
    { ...good, client_order_id: 'batched-005', side: 'SELL', symbol: 'KO' },
    { ...good, client_order_id: 'batched-006' },
  ];
  const answer = player.ask('batchPlaceOrders', {}, { account_id, batch_orders });
  assert.deepEqual([answer.total, answer.success, answer.failed], [6, 2, 4]);
  assert.deepEqual(
    answer.batch_orders.map((one: Json) => one.error_code),
    [
      undefined,
      'INVALID_SYMBOL',
      'OPENAPI_TRADE_PLACE_ORDER_REPEAT',
      'ORDER_PRICE_ILLEGAL',
      'CAN_SELL_QTY_NOT_ENOUGH',
      undefined,
    ],
  );
  for (const one of answer.batch_orders) assert.equal('order_id' in one, !('error_code' in one));
  assert.deepEqual(each(player.world.orders.all, 'clientOrderId'), [good.client_order_id, 'batched-006']);
  assert.equal(
    player.refused('batchPlaceOrders', {}, { account_id: 'nobody', batch_orders }),
    'ACCOUNT_ACCESS_DENIED',
  );
});

test('a preview costs what the order would, and places nothing', () => {
  const player = play();
  const preview = (change: Readonly<Record<string, unknown>>): Json =>
    player.ask('previewOrder', {}, { account_id, new_orders: [newOrder(change)] });
  const limit = preview({ order_type: 'LIMIT', limit_price: '12.34', quantity: '7' });
  assert.deepEqual([limit.estimated_cost, limit.estimated_transaction_fee], ['86.38', '0.00']);
  const [{ price }] = player.ask('getStockSnapshots', { symbols: 'AAPL', category: 'US_STOCK' });
  assert.equal(cents(preview({ quantity: '3' }).estimated_cost), 3 * cents(price));
  assert.equal(preview({ quantity: '3', current_ask: '100.00' }).estimated_cost, '300.00');
  assert.ok(cents(preview({ side: 'SELL', quantity: '100' }).estimated_transaction_fee) > 0);
  assert.equal(player.world.orders.all.length, 0);
  const wrong = { account_id, new_orders: [newOrder({ symbol: 'NOPE9' })] };
  assert.equal(player.refused('previewOrder', {}, wrong), 'INVALID_SYMBOL');
});
