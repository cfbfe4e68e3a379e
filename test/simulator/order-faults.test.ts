import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { StartError } from '../../infra/environment.ts';
import { readUpstreamFaults } from '../../infra/simulator/faults-variable.ts';
import {
  type ChooseFault,
  type FaultRequest,
  faultsByChance,
  loseFirstAnswers,
  type Simulator,
} from '../../infra/simulator/index.ts';
import { newOrder } from '../support/orders.ts';
import { codeOf, send, testTime, withSimulator } from './support.ts';

const used = 'OPENAPI_TRADE_PLACE_ORDER_REPEAT';
const unknown = 'OPENAPI_ORDER_NOT_FOUND';

type Order = ReturnType<typeof newOrder>;
/** Stays open until it is cancelled. */
const resting = () => newOrder({ order_type: 'LIMIT', limit_price: '1.00' });

/** A client of one account, at a clock that the test moves. */
function clientOf(simulator: Simulator, clock: { now: number }) {
  const { account_id } = simulator.accounts[0]!;
  const post = (target: string, body: object) =>
    send(simulator, {
      method: 'POST',
      target,
      body: JSON.stringify({ account_id, ...body }),
      now: clock.now,
    });
  const get = (path: string, more = '') =>
    send(simulator, { target: `${path}?account_id=${account_id}${more}`, now: clock.now });
  const listed = async (path: string, { client_order_id: id }: Order) => (await get(path)).text.includes(id);
  return {
    place: (...orders: Order[]) => post('/trade/place_order', { new_orders: orders }),
    batch: (...orders: Order[]) => post('/trading/orders/batch-place', { batch_orders: orders }),
    cancel: ({ client_order_id }: Order) => post('/trading/orders/cancel', { client_order_id }),
    show: ({ client_order_id }: Order) => get('/trading/orders/get', `&client_order_id=${client_order_id}`),
    isOpen: (order: Order) => listed('/trading/orders/open-orders/list', order),
    isHistory: (order: Order) => listed('/trading/orders/historical-orders/list', order),
    isInOldLists: async (order: Order) =>
      (await listed('/openapi/trade/order/open', order)) ||
      (await listed('/openapi/trade/order/history', order)),
  };
}

async function withClient(
  options: Parameters<typeof withSimulator>[0],
  use: (client: ReturnType<typeof clientOf>, simulator: Simulator, clock: { now: number }) => Promise<void>,
): Promise<void> {
  const clock = { now: testTime };
  await withSimulator({ clock: () => clock.now, ...options }, (simulator) =>
    use(clientOf(simulator, clock), simulator, clock),
  );
}

describe('late visibility', () => {
  test('an accepted order is shown by no read until its time, and its id is used up at once', async () => {
    await withClient({ showAfterMs: 2000 }, async (client, simulator, clock) => {
      const order = resting();
      assert.equal((await client.place(order)).status, 200);
      for (const [after, isShown] of [
        [0, false],
        [1999, false],
        [2000, true],
      ] as const) {
        clock.now = testTime + after;
        assert.equal(codeOf(await client.show(order)), isShown ? undefined : unknown);
        assert.equal(await client.isOpen(order), isShown);
        assert.equal(await client.isHistory(order), isShown);
        assert.equal(await client.isInOldLists(order), isShown);
        assert.equal(codeOf(await client.place(order)), used);
      }
      assert.equal(simulator.orders.length, 1);
    });
  });

  test('an order that is not shown yet can be cancelled', async () => {
    await withClient({}, async (client, simulator) => {
      simulator.trading.showAfter(5000);
      const order = resting();
      await client.place(order);
      assert.equal(codeOf(await client.show(order)), unknown);
      assert.equal((await client.cancel(order)).status, 200);
      assert.equal(simulator.trading.changes().at(-1)?.scene, 'CANCEL_SUCCESS');
    });
  });

  test('a refused order uses no id up, and one that was placed before is shown as before', async () => {
    await withClient({}, async (client, simulator) => {
      const before = resting();
      await client.place(before);
      simulator.trading.showAfter(5000);
      const order = resting();
      assert.equal((await client.place({ ...order, quantity: '0' })).status, 417);
      assert.equal((await client.place(order)).status, 200);
      assert.equal((await client.show(before)).status, 200);
    });
  });
});

test('repetition: executed once, and the client gets the refusal of the second delivery', async () => {
  await withClient({ fault: () => ({ kind: 'repeat' }) }, async (client, simulator) => {
    const reply = await client.place(resting());
    assert.deepEqual([reply.status, codeOf(reply)], [401, 'DUPPLICATED_REQUEST']);
    assert.equal(simulator.orders.length, 1);
    const [first, second] = simulator.received;
    assert.deepEqual([first?.outcome, second?.outcome], ['ok', 'DUPPLICATED_REQUEST']);
    assert.equal(first?.headers['x-signature-nonce'], second?.headers['x-signature-nonce']);
    assert.equal(reply.headers['x-request-id'], second?.requestId);
    assert.notEqual(first?.requestId, second?.requestId);
  });
});

describe('the first answer to each order is lost', () => {
  const lost = (sent: Promise<unknown>) =>
    sent.then(
      () => false,
      () => true,
    );

  test('which is placed, and every later answer about it arrives', async () => {
    await withClient({ fault: loseFirstAnswers() }, async (client, simulator) => {
      for (const order of [resting(), resting()]) {
        assert.ok(await lost(client.place(order)));
        assert.equal(codeOf(await client.place(order)), used);
        assert.equal((await client.show(order)).status, 200);
      }
      assert.equal(simulator.orders.length, 2);
    });
  });

  test('of a batch, when any of its orders is new', async () => {
    await withClient({}, async (client, simulator) => {
      simulator.bring(loseFirstAnswers());
      const [one, other] = [newOrder({ time_in_force: 'DAY' }), newOrder({ time_in_force: 'DAY' })];
      assert.ok(await lost(client.batch(one)));
      assert.ok(await lost(client.batch(one, other)));
      assert.equal((await client.batch(one, other)).status, 200);
      assert.equal(simulator.orders.length, 2);
      simulator.bring();
      assert.equal((await client.place(resting())).status, 200);
    });
  });

  test('and a body that cannot be read has none', async () => {
    const choose = loseFirstAnswers();
    for (const body of ['', '{', 'null', '[]', '{"new_orders":[null]}', '{"new_orders":7}'])
      assert.equal(choose({ ...anyRequest, path: '/trade/place_order', body }), undefined);
  });
});

const anyRequest: FaultRequest = {
  method: 'POST',
  path: '/any',
  query: '',
  attempt: 1,
  headers: {},
  body: '',
};
const chosen = (choose: ChooseFault, requests = 1000) =>
  Array.from({ length: requests }, () => choose(anyRequest)?.kind);

describe('faults by chance', () => {
  test('hit about as many requests as they should, and by the same seed the same ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        (seed, rate) => {
          const rates = { 'drop-after': rate, repeat: rate } as const;
          const hit = chosen(faultsByChance(rates, { seed }));
          assert.deepEqual(chosen(faultsByChance(rates, { seed })), hit);
          // Six times the widest standard deviation of a thousand draws.
          for (const kind of ['drop-after', 'repeat'])
            assert.ok(Math.abs(hit.filter((one) => one === kind).length - 1000 * rate) <= 95);
        },
      ),
    );
    const rates = { hang: 0.5 };
    assert.notDeepEqual(
      chosen(faultsByChance(rates, { seed: 2 })),
      chosen(faultsByChance(rates, { seed: 3 })),
    );
  });

  test('all or none at the ends, and only of the requests that are meant', () => {
    assert.deepEqual(new Set(chosen(faultsByChance({ drop: 1 }))), new Set(['drop']));
    assert.deepEqual(new Set(chosen(faultsByChance({ drop: 0 }))), new Set([undefined]));
    const choose = faultsByChance({ drop: 1 }, { of: ({ method }) => method === 'POST' });
    assert.equal(choose({ ...anyRequest, method: 'GET' }), undefined);
    assert.deepEqual(choose(anyRequest), { kind: 'drop' });
  });

  test('take no rates that are no shares', () => {
    for (const rates of [{ drop: -0.1 }, { drop: NaN }, { drop: 0.6, hang: 0.6 }])
      assert.throws(() => faultsByChance(rates), RangeError);
  });
});

describe('UPSTREAM_FAULTS', () => {
  test('unset brings nothing about', () => {
    for (const UPSTREAM_FAULTS of [undefined, ''])
      assert.deepEqual(readUpstreamFaults({ UPSTREAM_FAULTS }), {});
  });

  test('names what goes wrong', async () => {
    const faults = readUpstreamFaults({ UPSTREAM_FAULTS: 'lose-first, late=2000' });
    await withClient(faults, async (client) => {
      const order = resting();
      await assert.rejects(client.place(order));
      assert.equal(codeOf(await client.place(order)), used);
      assert.equal(codeOf(await client.show(order)), unknown);
    });
    const byChance = readUpstreamFaults({ UPSTREAM_FAULTS: 'drop-after=0.2,seed=7' }).fault!;
    assert.deepEqual(chosen(byChance), chosen(faultsByChance({ 'drop-after': 0.2 }, { seed: 7 })));
  });

  for (const UPSTREAM_FAULTS of [
    'lose',
    'lose-first=1',
    'drop',
    'drop=2',
    'drop=-1',
    'drop=0.6,hang=0.6',
    'drop=0.1,drop=0.1',
    'late',
    'late=0.5',
    'late=600001',
    'seed',
    'seed=1.5',
    'delay=0.1',
    ',',
  ])
    test(`${UPSTREAM_FAULTS} is refused`, () => {
      assert.throws(
        () => readUpstreamFaults({ UPSTREAM_FAULTS }),
        (error: unknown) => error instanceof StartError && /^UPSTREAM_FAULTS must be /.test(error.message),
      );
    });
});
