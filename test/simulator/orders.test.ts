import assert from 'node:assert/strict';
import * as v from 'valibot';
import { test } from 'vitest';
import type { Simulator } from '../../infra/simulator/index.ts';
import { getOrder, listAccounts, placeOrder } from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';
import { codeOf, send, testTime, withSimulator } from './support.ts';

const limitOrder = {
  client_order_id: 'order-0001',
  combo_type: 'NORMAL',
  symbol: 'AAPL',
  instrument_type: 'EQUITY',
  market: 'US',
  side: 'BUY',
  order_type: 'LIMIT',
  limit_price: '200.00',
  quantity: '3',
  entrust_type: 'QTY',
  time_in_force: 'DAY',
  support_trading_session: 'CORE',
};

const optionOrder = {
  ...limitOrder,
  instrument_type: 'OPTION',
  limit_price: '0.05',
  quantity: '1',
  option_strategy: 'SINGLE',
  legs: [
    {
      side: 'BUY',
      market: 'US',
      instrument_type: 'OPTION',
      symbol: 'AAPL',
      quantity: '1',
      strike_price: '240',
      option_expire_date: '2029-01-19',
      option_type: 'CALL',
    },
  ],
};

function place(simulator: Simulator, orders: readonly object[], more: object = {}) {
  const body = { account_id: simulator.accounts[0]?.account_id, new_orders: orders, ...more };
  return send(simulator, { method: 'POST', target: '/trade/place_order', body: JSON.stringify(body) });
}

test('the accounts list has two accounts in the catalogue’s shape', async () => {
  await withSimulator({}, async (simulator) => {
    for (const target of ['/trading/accounts/list', '/openapi/account/list']) {
      const reply = await send(simulator, { target });
      const records = v.parse(listAccounts.response, reply.json);
      assert.deepEqual(each(records, 'account_type'), ['MARGIN', 'CASH']);
      assert.deepEqual(records, simulator.accounts);
    }
  });
});

test('an order is stored and answered with its two ids, which repeat with the seed', async () => {
  const ids: unknown[] = [];
  for (const seed of [5, 5, 6]) {
    await withSimulator({ seed }, async (simulator) => {
      const reply = await place(simulator, [limitOrder]);
      assert.equal(reply.status, 200);
      const { client_order_id, order_id } = v.parse(placeOrder.response, reply.json);
      assert.equal(client_order_id, 'order-0001');
      ids.push(order_id);
      assert.deepEqual(simulator.orders, [
        {
          accountId: simulator.accounts[0]?.account_id,
          clientOrderId: 'order-0001',
          orderId: order_id,
          placedAt: testTime,
          order: limitOrder,
        },
      ]);
    });
  }
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
});

test('any query parameter and the unsigned category header are accepted', async () => {
  await withSimulator({}, async (simulator) => {
    const body = JSON.stringify({ account_id: simulator.accounts[1]?.account_id, new_orders: [limitOrder] });
    const target = '/trade/place_order?a1=x&a1=y&host=zzz';
    const change = { category: 'US_EQUITY' };
    assert.equal((await send(simulator, { method: 'POST', target, body, change })).status, 200);
  });
});

test('a client order id is taken once per account', async () => {
  await withSimulator({}, async (simulator) => {
    assert.equal((await place(simulator, [limitOrder])).status, 200);
    const again = await place(simulator, [limitOrder]);
    assert.deepEqual(
      [again.status, again.json],
      [
        417,
        {
          error_code: 'OPENAPI_TRADE_PLACE_ORDER_REPEAT',
          message: 'client_order_id was used before, order-0001',
        },
      ],
    );
    const elsewhere = { account_id: simulator.accounts[1]?.account_id };
    assert.equal((await place(simulator, [limitOrder], elsewhere)).status, 200);
    assert.equal(simulator.orders.length, 2);
  });
});

test('a combination is stored as a whole or not at all', async () => {
  await withSimulator({}, async (simulator) => {
    const master = { ...limitOrder, combo_type: 'MASTER' };
    const stop = { ...limitOrder, combo_type: 'STOP_PROFIT', side: 'SELL', client_order_id: 'order-0002' };
    const more = { client_combo_order_id: 'combo-1' };
    assert.equal((await place(simulator, [master, { ...stop, symbol: 'NOPE9' }], more)).status, 417);
    assert.equal((await place(simulator, [master, master], more)).status, 417);
    assert.equal(simulator.orders.length, 0);
    const reply = await place(simulator, [master, stop], more);
    const { client_combo_order_id, combo_order_id } = v.parse(placeOrder.response, reply.json);
    assert.equal(client_combo_order_id, 'combo-1');
    assert.deepEqual(each(simulator.orders, 'comboOrderId'), [combo_order_id, combo_order_id]);
  });
});

test('the id of a combination that names none is made by the upstream', async () => {
  await withSimulator({}, async (simulator) => {
    const stop = { ...limitOrder, combo_type: 'STOP_PROFIT', side: 'SELL', client_order_id: 'order-0002' };
    const reply = await place(simulator, [{ ...limitOrder, combo_type: 'MASTER' }, stop]);
    const { client_combo_order_id, combo_order_id } = v.parse(placeOrder.response, reply.json);
    assert.ok(client_combo_order_id && combo_order_id);
  });
});

test('an option order is what its legs say, where it names neither instrument nor symbol', async () => {
  await withSimulator({}, async (simulator) => {
    const { legs } = optionOrder;
    const { instrument_type: _, symbol: __, market: ___, combo_type: ____, ...unnamed } = optionOrder;
    assert.equal((await place(simulator, [unnamed])).status, 200);
    assert.deepEqual(each(each(simulator.orders, 'order'), 'symbol'), [legs[0]?.symbol]);
    const nothing = { ...unnamed, legs: undefined, client_order_id: 'order-0002' };
    assert.equal((await place(simulator, [nothing])).status, 417);
  });
});

test('orders that cannot be are refused and not stored', async () => {
  const cases: readonly (readonly [order: object, code: string, named: string, more?: object])[] = [
    [{ symbol: 'NOPE9' }, 'INVALID_SYMBOL', 'NOPE9'],
    [{ limit_price: '0' }, 'ORDER_PRICE_ILLEGAL', 'limit_price'],
    [{ limit_price: '-1.00' }, 'ORDER_PRICE_ILLEGAL', 'limit_price'],
    [{ limit_price: undefined }, 'ORDER_PRICE_ILLEGAL', 'limit_price'],
    [{ order_type: 'STOP_LOSS', limit_price: undefined }, 'ORDER_PRICE_ILLEGAL', 'stop_price'],
    [{ quantity: '0' }, 'OPENAPI_PARAM_ERR', 'quantity'],
    [{ entrust_type: 'AMOUNT' }, 'OPENAPI_PARAM_ERR', 'total_cash_amount'],
    [{ side: 'HOLD' }, 'OPENAPI_PARAM_ERR', 'new_orders.0.side'],
    [{ client_order_id: 'x'.repeat(41) }, 'OPENAPI_PARAM_ERR', 'new_orders.0.client_order_id'],
    [{ limit_price: 200 }, 'OPENAPI_PARAM_ERR', 'new_orders.0.limit_price'],
  ];
  await withSimulator({}, async (simulator) => {
    for (const [change, code, named, more] of cases) {
      const reply = await place(simulator, [{ ...limitOrder, ...change }], more);
      assert.deepEqual([reply.status, codeOf(reply)], [417, code], named);
      assert.ok(reply.text.includes(named), reply.text);
    }
    assert.equal((await place(simulator, [])).status, 417);
    const bodyless = await send(simulator, { method: 'POST', target: '/trade/place_order' });
    assert.equal(codeOf(bodyless), 'OPENAPI_PARAM_ERR');
    assert.equal(simulator.orders.length, 0);
    const market = { ...limitOrder, order_type: 'MARKET', limit_price: undefined };
    assert.equal((await place(simulator, [market])).status, 200);
  });
});

test('an order is shown by its client’s id, each part of a combination with the others', async () => {
  await withSimulator({}, async (simulator) => {
    const accountId = simulator.accounts[0]?.account_id;
    const show = async (id: string) => {
      const reply = await send(simulator, {
        target: `/trading/orders/get?account_id=${accountId}&client_order_id=${id}`,
      });
      assert.equal(reply.status, 200);
      return v.parse(getOrder.response, reply.json);
    };
    await place(simulator, [limitOrder]);
    const single = await show('order-0001');
    assert.equal(single.combo_type, 'NORMAL');
    assert.equal(single.combo_order_id, undefined);
    assert.deepEqual(
      single.orders.map(({ client_order_id, limit_price, total_quantity, status, filled_quantity }) => [
        client_order_id,
        limit_price,
        total_quantity,
        status,
        filled_quantity,
      ]),
      [['order-0001', '200.00', '3', 'SUBMITTED', '0']],
    );
    assert.equal(single.orders[0]?.place_time_at, new Date(testTime).toISOString());

    const parts = ['OCO', 'OCO'].map((combo_type, index) => ({
      ...limitOrder,
      combo_type,
      client_order_id: `order-part-${index}`,
    }));
    await place(simulator, parts, { client_combo_order_id: 'pair' });
    const pair = await show('order-part-1');
    assert.ok(pair.combo_order_id);
    assert.deepEqual(each(pair.orders, 'client_order_id'), ['order-part-0', 'order-part-1']);
  });
});

test('an order that is not there, and one of another account, is not found', async () => {
  await withSimulator({}, async (simulator) => {
    const [own, other] = simulator.accounts;
    await place(simulator, [limitOrder]);
    for (const [account, id] of [
      [own?.account_id, 'order-0002'],
      [other?.account_id, 'order-0001'],
    ]) {
      const reply = await send(simulator, {
        target: `/trading/orders/get?account_id=${account}&client_order_id=${id}`,
      });
      assert.equal(reply.status, 417);
      assert.equal(codeOf(reply), 'OPENAPI_ORDER_NOT_FOUND');
    }
  });
});
