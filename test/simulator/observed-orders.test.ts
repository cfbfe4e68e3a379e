/** Orders as the live upstream was seen to take and refuse them; each test quotes what was seen. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { observed } from '../../infra/simulator/observed.ts';
import { newOrder } from '../support/orders.ts';
import { account_id, type Live, withLive } from './observed.ts';
import { play } from './player.ts';
import { codeOf } from './support.ts';
import { place as placeIn, refused as refusedIn } from './trader.ts';

const paramError = [417, 'OPENAPI_PARAM_ERR'];
/** Far from the market, so that it stays open. */
const far = { order_type: 'LIMIT', limit_price: '1.00' };

const leg = (change: object = {}) => ({
  side: 'BUY',
  market: 'US',
  instrument_type: 'OPTION',
  symbol: 'AAPL',
  quantity: '2',
  strike_price: '240',
  option_expire_date: '2027-01-15',
  option_type: 'CALL',
  ...change,
});
const option = (change: object = {}, ofLeg: object = {}) => ({
  instrument_type: 'OPTION',
  quantity: '2',
  order_type: 'LIMIT',
  limit_price: '1.00',
  option_strategy: 'SINGLE',
  legs: [leg(ofLeg)],
  ...change,
});

/** Places orders and gives status and code, or `200 undefined`. */
async function outcome(live: Live, change: object) {
  const reply = await live.place(change as Record<string, unknown>);
  return [reply.status, codeOf(reply)];
}

test(observed.nulls.fact, () =>
  withLive(async (live) => {
    const nulls = {
      client_combo_order_id: null,
      new_orders: [
        newOrder({
          ...far,
          stop_price: null,
          expire_date: null,
          legs: null,
          trailing_type: null,
          algo_type: null,
        }),
      ],
    };
    const placed = await live.ask('placeOrder', { account_id, ...nulls });
    const [{ stop_price, legs, limit_price }] = (
      await live.ask('getOrder', { account_id, client_order_id: placed.client_order_id })
    ).orders;
    assert.deepEqual([stop_price, legs, limit_price], [undefined, undefined, '1.00']);
    const preview = {
      account_id,
      client_combo_order_id: null,
      new_orders: [newOrder({ current_ask: null })],
    };
    assert.equal((await live.ask('previewOrder', preview)).currency, 'USD');
    const modify_orders = [
      { client_order_id: placed.client_order_id, quantity: '2', limit_price: null, legs: null },
    ];
    await live.ask('replaceOrder', { account_id, client_combo_order_id: null, modify_orders });
    const cancel = { account_id, client_order_id: placed.client_order_id, client_combo_order_id: null };
    await live.ask('cancelOrder', cancel);
    await live.ask('createWatchlist', { name: 'Ideas', sort: null });
    await live.ask('createToken', { token: null });
    // A member that must be there is missing when it is null.
    assert.deepEqual(await outcome(live, { symbol: null }), paramError);
  }),
);

test(observed.sessionOfStocks.fact, () =>
  withLive(async (live) => {
    for (const support_trading_session of [undefined, null])
      assert.deepEqual(await outcome(live, { support_trading_session }), paramError);
    assert.deepEqual(await outcome(live, option({ support_trading_session: undefined })), [200, undefined]);
  }),
);

test(observed.lengthOfOrderIds.fact, () =>
  withLive(async (live) => {
    for (const [length, expected] of [
      [9, paramError],
      [10, [200, undefined]],
      [40, [200, undefined]],
      [41, paramError],
    ] as const)
      assert.deepEqual(
        await outcome(live, { client_order_id: 'x'.repeat(length) }),
        expected,
        String(length),
      );
  }),
);

test(observed.usedOrderId.fact, () =>
  withLive(async (live) => {
    const client_order_id = 'once-and-no-more';
    assert.deepEqual(await outcome(live, { ...far, client_order_id }), [200, undefined]);
    for (const symbol of ['AAPL', 'KO'])
      assert.deepEqual(await outcome(live, { client_order_id, symbol }), [
        417,
        'OPENAPI_TRADE_PLACE_ORDER_REPEAT',
      ]);
    await live.ask('cancelOrder', { account_id, client_order_id });
    assert.equal((await outcome(live, { client_order_id }))[1], 'OPENAPI_TRADE_PLACE_ORDER_REPEAT');
  }),
);

test(observed.refusedOrderId.fact, () =>
  withLive(async (live) => {
    const client_order_id = 'refused-at-first';
    for (const wrong of [
      { symbol: 'NOPE9' },
      { quantity: '99999999' },
      { support_trading_session: undefined },
    ])
      assert.equal((await live.place({ ...wrong, client_order_id })).status, 417);
    assert.deepEqual(await outcome(live, { client_order_id }), [200, undefined]);
  }),
);

test(observed.legSymbol.fact, () =>
  withLive(async (live) => {
    assert.deepEqual(await outcome(live, option()), [200, undefined]);
    assert.deepEqual(await outcome(live, option({}, { symbol: 'NOPE9' })), [417, 'INVALID_SYMBOL']);
  }),
);

test(observed.groupAnswer.fact, () =>
  withLive(async (live) => {
    const { ids, answer } = await bracket(live);
    assert.deepEqual(Object.keys(answer).sort(), ['client_combo_order_id', 'combo_order_id']);
    for (const [id, role] of [
      [ids.master, 'MASTER'],
      [ids.profit, 'STOP_PROFIT'],
      [ids.loss, 'STOP_LOSS'],
    ] as const) {
      const part = await live.ask('getOrder', { account_id, client_order_id: id });
      assert.deepEqual([part.client_order_id, part.combo_type], [id, role]);
      assert.equal(part.combo_order_id, answer.combo_order_id);
    }
  }),
);

test(observed.groupCancel.fact, () =>
  withLive(async (live) => {
    const { ids } = await bracket(live);
    await live.ask('cancelOrder', { account_id, client_order_id: ids.master });
    const group = await live.ask('getOrder', { account_id, client_order_id: ids.master });
    for (const { status } of group.orders) assert.equal(status, 'CANCELLED');
    for (const client_order_id of [ids.profit, ids.loss]) {
      const modify_orders = [{ client_order_id, quantity: '1' }];
      for (const [id, given] of [
        ['cancelOrder', { account_id, client_order_id }],
        ['getOrder', { account_id, client_order_id }],
        ['replaceOrder', { account_id, modify_orders }],
      ] as const)
        assert.deepEqual(await live.refused(id, given), [417, 'OPENAPI_ORDER_NOT_FOUND'], id);
      // The order was accepted once, so its id stays used up.
      assert.equal((await outcome(live, { client_order_id }))[1], 'OPENAPI_TRADE_PLACE_ORDER_REPEAT');
    }
  }),
);

test(observed.exitCancel.fact, () =>
  withLive(async (live) => {
    const { ids } = await bracket(live, { order_type: 'MARKET', limit_price: undefined });
    live.now += 4000;
    const statusOf = async (id: string) => {
      const { orders } = await live.ask('getOrder', { account_id, client_order_id: id });
      return orders.find((one: { client_order_id: string }) => one.client_order_id === id).status;
    };
    assert.equal(await statusOf(ids.master), 'FILLED');
    const cancel = { account_id, client_combo_order_id: 'bracket-0001' };
    await live.ask('cancelOrder', { ...cancel, client_order_id: ids.profit });
    assert.deepEqual([await statusOf(ids.profit), await statusOf(ids.loss)], ['CANCELLED', 'SUBMITTED']);
    await live.ask('cancelOrder', { ...cancel, client_order_id: ids.loss });
    assert.equal(await statusOf(ids.loss), 'CANCELLED');
  }),
);

test(observed.optionTerms.fact, () =>
  withLive(async (live) => {
    const trailing = {
      order_type: 'TRAILING_STOP_LOSS',
      limit_price: undefined,
      trailing_type: 'AMOUNT',
      trailing_stop_step: '1.00',
    };
    for (const wrong of [
      option({ time_in_force: 'IOC' }),
      option({ time_in_force: 'FOK' }),
      option({}, { quantity: '1.5' }),
      option({ quantity: '1.5' }, { quantity: '1.5' }),
      option(trailing),
    ])
      assert.deepEqual(await outcome(live, wrong), paramError, JSON.stringify(wrong));
    // The same is fine for stocks.
    for (const fine of [{ time_in_force: 'IOC' }, { time_in_force: 'FOK' }, trailing])
      assert.deepEqual(await outcome(live, fine), [200, undefined], JSON.stringify(fine));
    const [{ client_order_id }, change] = [newOrder(option()), { time_in_force: 'IOC' }];
    await live.place(option({ client_order_id }));
    const modify_orders = [{ client_order_id, ...change }];
    assert.deepEqual(await live.refused('replaceOrder', { account_id, modify_orders }), paramError);
  }),
);

test(observed.trailingTypes.fact, () =>
  withLive(async (live) => {
    const trailing = { order_type: 'TRAILING_STOP_LOSS', trailing_stop_step: '1.00' };
    for (const [trailing_type, expected] of [
      ['AMOUNT', [200, undefined]],
      ['PERCENTAGE', [200, undefined]],
      ['amount', paramError],
      ['Percentage', paramError],
    ] as const)
      assert.deepEqual(await outcome(live, { ...trailing, trailing_type }), expected, trailing_type);
  }),
);

describe(observed.dayOrder.fact, () => {
  const tooLate = [417, 'OPENAPI_DAY_ORDER_NOT_ALLOWED_AFT_CORE_TIME_LIMIT'];
  const moments: readonly (readonly [time: string, taken: boolean])[] = [
    // New York is five hours behind UTC in winter, four in summer.
    ['2026-11-17T14:30:00.000Z', true],
    ['2026-11-17T20:59:59.999Z', true],
    ['2026-11-17T21:00:00.000Z', false],
    ['2026-11-18T04:59:59.999Z', false],
    ['2026-11-18T05:00:00.000Z', true],
    ['2026-07-14T19:59:59.999Z', true],
    ['2026-07-14T20:00:00.000Z', false],
    // A weekend has no session that an order could come after.
    ['2026-11-21T22:00:00.000Z', true],
  ];
  for (const [time, taken] of moments)
    test(`${time}: ${taken ? 'taken' : 'refused'}`, () =>
      withLive(async (live) => {
        live.now = Date.parse(time);
        const expected = taken ? [200, undefined] : tooLate;
        assert.deepEqual(await outcome(live, { time_in_force: 'DAY' }), expected);
        assert.deepEqual(await outcome(live, option({ time_in_force: 'DAY' })), expected);
      }));

  test('in a batch too, each order for itself', () =>
    withLive(async (live) => {
      live.now = Date.UTC(2026, 10, 17, 21);
      const batch_orders = [newOrder({ time_in_force: 'DAY' }), newOrder({ time_in_force: 'DAY' })];
      const answer = await live.ask('batchPlaceOrders', { account_id, batch_orders });
      assert.equal(answer.failed, 2);
      for (const { error_code } of answer.batch_orders) assert.equal(error_code, tooLate[1]);
      assert.deepEqual(live.simulator.orders, []);
    }));

  test(observed.aroundTheClock.fact, () => {
    const player = play();
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(2026, 9, 21), max: Date.UTC(2026, 11, 31) }), (now) => {
        player.now = now;
        placeIn(player, { ...far, quantity: '1' });
        const new_orders = [newOrder({ time_in_force: 'DAY' })];
        player.ask('previewOrder', {}, { account_id, new_orders });
      }),
    );
  });

  test('from Monday to Friday from 16:00 to midnight in New York, and never else', () => {
    const player = play();
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(2026, 10, 16, 5), max: Date.UTC(2026, 11, 14, 5) - 1 }),
        (now) => {
          player.now = now;
          // In these weeks New York is five hours behind.
          const there = new Date(now - 5 * 3_600_000);
          const late = there.getUTCHours() >= 16 && there.getUTCDay() % 6 !== 0;
          const day = { ...far, time_in_force: 'DAY', quantity: '1' };
          if (late) assert.equal(refusedIn(player, day), tooLate[1]);
          else placeIn(player, day);
        },
      ),
    );
  });
});

test(observed.historyLag.fact, () =>
  withLive(async (live) => {
    const { client_order_id } = newOrder();
    await live.place({ ...far, client_order_id });
    await live.ask('cancelOrder', { account_id, client_order_id });
    const get = async () => (await live.ask('getOrder', { account_id, client_order_id })).orders[0].status;
    const history = async () => (await live.ask('listOrderHistory', { account_id })).data[0].orders[0].status;
    for (const [ms, listed] of [
      [0, 'PENDING'],
      [1999, 'PENDING'],
      [1, 'CANCELLED'],
    ] as const) {
      live.now += ms;
      assert.deepEqual([await get(), await history()], ['CANCELLED', listed]);
    }
  }),
);

test(observed.lastPage.fact, () =>
  withLive(async (live) => {
    for (let count = 0; count < 18; count++) await live.place(far);
    const first = await live.ask('listOpenOrders', { account_id });
    assert.deepEqual([first.data.length, typeof first.pagination_key], [20, 'string']);
    const last = await live.ask('listOpenOrders', { account_id, pagination_key: first.pagination_key });
    assert.deepEqual([last.data.length, Object.keys(last)], [1, ['data']]);
  }),
);

/** A master, far from the market unless told otherwise, with two exits. */
async function bracket(live: Live, ofMaster: object = far) {
  const exit = { side: 'SELL', symbol: 'MSFT' };
  const parts = [
    newOrder({ ...far, symbol: 'MSFT', ...ofMaster, combo_type: 'MASTER' }),
    newOrder({ ...exit, combo_type: 'STOP_PROFIT', order_type: 'LIMIT', limit_price: '9999.00' }),
    newOrder({ ...exit, combo_type: 'STOP_LOSS', order_type: 'STOP_LOSS', stop_price: '1.00' }),
  ];
  const body = { account_id, client_combo_order_id: 'bracket-0001', new_orders: parts };
  const answer = await live.ask('placeOrder', body);
  const [master, profit, loss] = parts.map((part) => part.client_order_id) as [string, string, string];
  return { answer, ids: { master, profit, loss } };
}
