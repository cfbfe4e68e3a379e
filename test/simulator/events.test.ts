/** The event stream tells what the order book does, to the streams that are open and may know it. */

import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, test } from 'vitest';
import { each } from '../support/each.ts';
import { play, type Scene } from './event-scene.ts';
import { testTime } from './support.ts';
import { account_id, cashAccount } from './trader.ts';

/** No price strikes it: nothing but a test or a call changes it. */
const resting = { order_type: 'LIMIT', limit_price: '1.00', quantity: '10' };

const told = ({ scene_type, order_status, filled_qty }: Record<string, string>) =>
  [scene_type, order_status, filled_qty].join(' ');

const replace = (scene: Scene, client_order_id: string, quantity: string) =>
  scene.post('/trading/orders/replace', { account_id, modify_orders: [{ client_order_id, quantity }] });
const cancel = (scene: Scene, client_order_id: string) =>
  scene.post('/trading/orders/cancel', { account_id, client_order_id });

describe('the life of an order', () => {
  test('half filled, then filled: two events as time passes, with the documented members', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      const id = await scene.place({ symbol: 'MSFT', quantity: '10' });
      scene.now += 4000;
      scene.simulator.trading.settle();
      const [first, second, ...more] = await scene.told(stream);
      assert.deepEqual(more, []);
      const [stored] = scene.simulator.orders;
      const { request_id, filled_price, instrument_id, ...rest } = first;
      assert.deepEqual(rest, {
        account_id,
        client_order_id: id,
        order_id: stored?.orderId,
        symbol: 'MSFT',
        category: 'US_STOCK',
        order_status: 'SUBMITTED',
        scene_type: 'FILLED',
        side: 'BUY',
        order_type: 'MARKET',
        qty: '10',
        filled_qty: '5',
        filled_time: new Date(testTime + 2000).toISOString(),
      });
      assert.match(filled_price, /^\d+\.\d\d$/);
      assert.match(instrument_id, /^\d+$/);
      assert.equal(told(second), 'FINAL_FILLED FILLED 10');
      const one = stream.events.find(({ requestId }) => requestId === request_id);
      const { eventType, subscribeType, contentType, timestamp } = one!;
      assert.deepEqual(
        [eventType, subscribeType, contentType, timestamp],
        [1024, 1, 'application/json', testTime + 2000],
      );
    }));

  test('filled on demand in three parts', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      const id = await scene.place(resting);
      for (const quantity of ['2.5', '0.5', undefined])
        scene.simulator.trading.fill(account_id, id, quantity);
      const payloads = await scene.told(stream);
      assert.deepEqual(payloads.map(told), [
        'FILLED SUBMITTED 2.5',
        'FILLED SUBMITTED 3',
        'FINAL_FILLED FILLED 10',
      ]);
      assert.throws(() => scene.simulator.trading.fill(account_id, id), /is FILLED/);
    }));

  test('more than is left cannot be filled, nor an order that is not known', () =>
    play(async (scene) => {
      const id = await scene.place(resting);
      for (const quantity of ['11', '0', '-1', 'all'])
        assert.throws(() => scene.simulator.trading.fill(account_id, id, quantity), /is not a part/);
      assert.throws(() => scene.simulator.trading.fill(cashAccount, id), /is not known/);
      assert.deepEqual(scene.simulator.trading.changes(), []);
    }));

  test('replaced and cancelled, and neither where the exchange does not follow', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      const id = await scene.place(resting);
      const { failNextChange, fill } = scene.simulator.trading;
      await replace(scene, id, '8');
      failNextChange(account_id, id);
      await replace(scene, id, '7');
      fill(account_id, id, '3');
      failNextChange(account_id, id);
      await cancel(scene, id);
      await cancel(scene, id);
      const payloads = await scene.told(stream);
      assert.deepEqual(payloads.map(told), [
        'MODIFY_SUCCESS SUBMITTED 0',
        'MODIFY_FAILED SUBMITTED 0',
        'FILLED SUBMITTED 3',
        'CANCEL_FAILED SUBMITTED 3',
        'CANCEL_SUCCESS CANCELLED 3',
      ]);
      assert.deepEqual(each(payloads, 'qty'), ['8', '8', '8', '8', '8']);
    }));

  test('placing failed: the event has no order_id, and the order is found as FAILED', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      const id = await scene.place(resting);
      scene.simulator.trading.failPlacing(account_id, id);
      const [{ order_id, filled_price, ...payload }] = (await scene.told(stream)) as [Record<string, string>];
      assert.equal(told(payload), 'PLACE_FAILED FAILED 0');
      assert.deepEqual([order_id, filled_price], [undefined, null]);
      assert.throws(() => scene.simulator.trading.failPlacing(account_id, id), /is FAILED/);
      const filled = await scene.place(resting);
      scene.simulator.trading.fill(account_id, filled, '1');
      assert.throws(() => scene.simulator.trading.failPlacing(account_id, filled), /filled in part/);
    }));

  test('ran out by itself: cancelled', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      await scene.place({ ...resting, time_in_force: 'IOC' });
      assert.deepEqual((await scene.told(stream)).map(told), ['CANCEL_SUCCESS CANCELLED 0']);
    }));

  test('one cancels the other, and followers begin when their master is filled', () =>
    play(async (scene) => {
      const stream = await scene.listen();
      const parts = ['MASTER', 'STOP_PROFIT', 'STOP_LOSS'].map((combo_type, at) => ({
        client_order_id: `combo-part-${at}`,
        combo_type,
        symbol: 'AAPL',
        instrument_type: 'EQUITY',
        market: 'US',
        side: at === 0 ? 'BUY' : 'SELL',
        quantity: '4',
        entrust_type: 'QTY',
        time_in_force: 'GTC',
        support_trading_session: 'CORE',
        ...(at === 2
          ? { order_type: 'STOP_LOSS', stop_price: '1.00' }
          : { order_type: 'LIMIT', limit_price: at === 0 ? '1.00' : '9999.00' }),
      }));
      await scene.post('/trade/place_order', {
        account_id,
        client_combo_order_id: 'combo',
        new_orders: parts,
      });
      const { fill } = scene.simulator.trading;
      assert.throws(() => fill(account_id, 'combo-part-1', '1'), /is PENDING/);
      fill(account_id, 'combo-part-0');
      fill(account_id, 'combo-part-1', '1');
      // The combination is open still: what was told of it is not told again.
      fill(account_id, 'combo-part-1', '1');
      assert.deepEqual(
        (await scene.told(stream)).map((one) => `${one.client_order_id} ${told(one)}`),
        [
          'combo-part-0 FINAL_FILLED FILLED 4',
          'combo-part-1 FILLED SUBMITTED 1',
          'combo-part-2 CANCEL_SUCCESS CANCELLED 0',
          'combo-part-1 FILLED SUBMITTED 2',
        ],
      );
    }));

  test('what a request was refused for is in its answer, and no event', () =>
    play(async (scene) => {
      const id = await scene.place(resting);
      await cancel(scene, id);
      await assert.rejects(cancel(scene, id), /ORDER_STATUS_ILLEGAL/);
      await assert.rejects(replace(scene, id, '3'), /ORDER_STATUS_ILLEGAL/);
      await assert.rejects(scene.place({ symbol: 'NOSUCH' }), /INVALID_SYMBOL/);
      assert.equal(scene.simulator.trading.changes().length, 1);
    }));

  test('an order filled in part can be told as PARTIAL_FILLED', () =>
    play(
      async (scene) => {
        const id = await scene.place(resting);
        scene.simulator.trading.fill(account_id, id, '1');
        await replace(scene, id, '9');
        assert.deepEqual(each(scene.simulator.trading.changes(), 'status'), [
          'PARTIAL_FILLED',
          'PARTIAL_FILLED',
        ]);
      },
      { events: { partlyFilled: 'PARTIAL_FILLED' } },
    ));
});

describe('who is told what', () => {
  test('only events of the accounts and kinds that were subscribed', () =>
    play(
      async (scene) => {
        const { events, trading } = scene.simulator;
        const both = await scene.listen({ accounts: [account_id, cashAccount] });
        const cash = await scene.listen({ accounts: [cashAccount] });
        const positions = await scene.listen({ subscribeType: 2 });
        const options = await scene.listen({ subscribeType: 4 });
        const none = await scene.listen({ accounts: [], subscribeType: 7 });
        trading.fill(account_id, await scene.place(resting));
        trading.fill(cashAccount, await scene.place(resting, cashAccount));
        events.settlePosition(account_id);
        events.changeOption(account_id, { symbol: 'AAPL270115C00250000' });
        const typesOn = async (stream: typeof both) => {
          await scene.told(stream);
          return stream.events.map(({ eventType }) => eventType).filter((type) => type > 4);
        };
        assert.deepEqual(await typesOn(both), [1024, 1024, 1028, 1032]);
        assert.deepEqual(await typesOn(cash), [1024]);
        assert.deepEqual(await typesOn(positions), [1028]);
        assert.deepEqual(await typesOn(options), [1032]);
        assert.deepEqual(await typesOn(none), []);
        const [settled] = positions.payloads;
        assert.deepEqual(Object.keys(settled).sort(), [
          'cost',
          'event_name',
          'quantity',
          'settle_amount',
          'settle_result',
          'settle_side',
          'yes_condition',
        ]);
      },
      { events: { streams: 5 } },
    ));

  test('what happens while no stream is open is recorded and told to none, though it is found out later', () =>
    play(async (scene) => {
      const early = await scene.place({ quantity: '2' });
      scene.now += 2000;
      const stream = await scene.listen();
      assert.deepEqual(await scene.told(stream), []);
      scene.now += 2000;
      scene.simulator.trading.settle();
      assert.deepEqual((await scene.told(stream)).map(told), ['FINAL_FILLED FILLED 2']);
      const changes = scene.simulator.trading.changes();
      assert.deepEqual(
        changes.map(({ sequence, at, clientOrderId, filledQuantity }) => [
          sequence,
          at - testTime,
          clientOrderId,
          filledQuantity,
        ]),
        [
          [1, 2000, early, '1'],
          [2, 4000, early, '2'],
        ],
      );
    }));

  test('while a stream is open, orders live on by themselves', () =>
    play(
      async (scene) => {
        const stream = await scene.listen();
        await scene.place({ quantity: '2' });
        scene.now += 4000;
        await stream.came(3);
        assert.deepEqual(stream.payloads.map(told), ['FILLED SUBMITTED 1', 'FINAL_FILLED FILLED 2']);
      },
      { events: { settleMs: 1 } },
    ));

  test('pings come by themselves, as text', () =>
    play(
      async (scene) => {
        const stream = await scene.listen();
        await stream.came(3);
        for (const { eventType, contentType } of stream.events.slice(1))
          assert.deepEqual([eventType, contentType], [1, 'text/plain']);
      },
      { events: { pingMs: 1 } },
    ));
});

test('a stream that is open all the time tells every recorded change of orders, in order', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(), fc.nat({ max: 3000 })), { maxLength: 25 }), (steps) =>
      play(async (scene) => {
        const stream = await scene.listen();
        const ids: string[] = [];
        for (const [what, chance, ms] of steps) {
          scene.now += ms;
          if (what === 'place' || ids.length === 0)
            ids.push(await scene.place(chance % 2 ? resting : { quantity: String((chance % 9) + 1) }));
          else await act(scene, what, ids[chance % ids.length]!, chance);
        }
        scene.now += 10_000;
        scene.simulator.trading.settle();
        const changes = scene.simulator.trading.changes();
        assert.deepEqual(
          await scene.told(stream),
          changes.map(({ payload }) => payload),
        );
        assert.deepEqual(
          each(changes, 'sequence'),
          changes.map((_, at) => at + 1),
        );
        assert.equal(new Set(changes.map(({ requestId }) => requestId)).size, changes.length);
      }),
    ),
    { numRuns: 25 },
  ));

const step = fc.constantFrom('place', 'fill', 'replace', 'cancel', 'fail', 'fail-next', 'wait');

/** What cannot be done to an order is left. */
async function act(scene: Scene, what: string, id: string, chance: number): Promise<void> {
  const { fill, failPlacing, failNextChange } = scene.simulator.trading;
  const tries: Record<string, () => unknown> = {
    fill: () => fill(account_id, id, chance % 3 === 0 ? undefined : '1'),
    fail: () => failPlacing(account_id, id),
    'fail-next': () => failNextChange(account_id, id),
    replace: () => replace(scene, id, String((chance % 12) + 1)),
    cancel: () => cancel(scene, id),
  };
  try {
    await tries[what]?.();
  } catch (error) {
    assert.match(
      String(error),
      /is (FILLED|CANCELLED|FAILED)|filled in part|not a part|STATUS_ILLEGAL|PARAM_ERR/,
    );
  }
}
