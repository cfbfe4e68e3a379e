/** Orders leave the open notional when the upstream shows their end, and not before. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { ApiFault } from '../../infra/simulator/index.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { accountId, ask, newOrder, orderBody, orderPath, problemOf } from '../support/core.ts';
import { names, settlementFor, startInstances } from '../support/instances.ts';

import { cancelPath, placePath, replacePath } from './guarded.ts';

const minute = 60_000;

/** An account whose orders may come to a limit, and its settlement; both by one clock. */
async function start(t: TestContext, max_open_notional = '100') {
  const state = { clock: Date.UTC(2026, 10, 20, 15), fault: undefined as ApiFault | undefined };
  const clock = () => state.clock;
  const sleep = async (ms: number) => {
    state.clock += ms;
  };
  const journal = createMemoryOrderJournal();
  const controls = createMemoryControls();
  controls.set('stack', { limits: { max_open_notional } });
  const lastPrices = { lastPrice: async () => ({ price: '1', at: 0 }) };
  const { gateway, simulator } = await startInstances(t, 1, {
    simulated: { clock, fault: () => state.fault },
    journal,
    options: { clock, orders: { journal, names, sleep, guard: { controls, journal, lastPrices } } },
  });
  const settlement = settlementFor(simulator.url, { journal, clock });
  const place = (id: string, more: Readonly<Record<string, string>> = {}) =>
    ask(gateway, orderPath, {
      body: orderBody({
        client_order_id: id,
        order_type: 'LIMIT',
        limit_price: '1.00',
        quantity: '10',
        time_in_force: 'GTC',
        ...more,
      }),
    });
  const change = (path: string, body: object) =>
    ask(gateway, path, { body: JSON.stringify({ account_id: accountId, ...body }) });
  const open = async () => {
    const [counter] = await journal.counters(['counter stack']);
    return (JSON.parse(counter?.state ?? '{"open":"0"}') as { open: string }).open;
  };
  const settle = async () => {
    state.clock += minute;
    return settlement.run(state.clock + minute);
  };
  return { state, gateway, simulator, place, change, open, settle, settlement, journal };
}

describe('an order leaves the open notional', () => {
  test('when it is cancelled, and not when the cancel is asked for', async (t) => {
    const { place, change, open, settle } = await start(t);
    assert.equal((await place('order-of-release-1')).status, 200);
    assert.equal(await open(), '10');
    assert.equal((await settle()).released, 0);
    assert.equal(await open(), '10');
    assert.equal((await change(cancelPath, { client_order_id: 'order-of-release-1' })).status, 200);
    assert.equal(await open(), '10');
    assert.equal((await settle()).released, 1);
    assert.equal(await open(), '0');
    assert.equal((await settle()).released, 0);
  });

  test('when it is filled, wholly', async (t) => {
    const { place, open, settle, simulator } = await start(t);
    assert.equal((await place('order-of-release-2')).status, 200);
    simulator.trading.fill(accountId, 'order-of-release-2', '4');
    await settle();
    assert.equal(await open(), '10');
    simulator.trading.fill(accountId, 'order-of-release-2');
    await settle();
    assert.equal(await open(), '0');
  });

  test('at once when it is refused, so that it costs the next one nothing', async (t) => {
    const { place, open } = await start(t);
    const refused = await place('order-of-release-3', { symbol: 'NOSUCH' });
    assert.equal(problemOf(refused).code, 'upstream_rejected');
    assert.equal(await open(), '0');
  });

  test('after its outcome was unknown, by what the upstream shows', async (t) => {
    const { place, open, settle, state, simulator } = await start(t);
    state.fault = { kind: 'drop-after' };
    assert.equal(problemOf(await place('order-of-release-4')).code, 'outcome_unknown');
    assert.equal(await open(), '10');
    state.fault = undefined;
    assert.equal((await settle()).accepted, 1);
    assert.equal(await open(), '10');
    simulator.trading.fill(accountId, 'order-of-release-4');
    await settle();
    assert.equal(await open(), '0');
  });

  test('not when a failure of the upstream has the code of a refusal: the order may be live', async (t) => {
    const { place, open, settle, state } = await start(t);
    const body = { error_code: 'INCORRECT_SIGN', message: 'no' };
    state.fault = { kind: 'status', status: 500, body };
    assert.equal(problemOf(await place('order-of-release-6')).code, 'outcome_unknown');
    assert.deepEqual([(await settle()).left, await open()], [1, '10']);
    state.fault = { kind: 'status', status: 401, body };
    assert.equal(problemOf(await place('order-of-release-7')).code, 'upstream_auth_failed');
    assert.equal(await open(), '10');
  });

  test('by an event of its end, but for one that says it failed', async (t) => {
    const { place, open, settlement } = await start(t);
    assert.equal((await place('order-of-release-5')).status, 200);
    const seen = (status: string) =>
      settlement.saw({
        state: { account: accountId, clientOrderId: 'order-of-release-5', status, filled: '0' },
        payload: '{}',
      });
    for (const status of ['SUBMITTED', 'PARTIAL_FILLED', 'FAILED']) {
      await seen(status);
      assert.equal(await open(), '10', status);
    }
    await seen('FILLED');
    assert.equal(await open(), '0');
    await seen('FILLED');
    assert.equal(await open(), '0');
  });
});

test('the parts of a combination leave the open notional with their cancelled master', async (t) => {
  const { gateway, change, open, settle, place } = await start(t);
  const order = { order_type: 'LIMIT', limit_price: '1.00', quantity: '10', time_in_force: 'GTC' };
  const new_orders = ['MASTER', 'STOP_PROFIT', 'STOP_LOSS'].map((combo_type, index) =>
    newOrder({ ...order, client_order_id: `order-of-parts-${index}`, combo_type }),
  );
  const placed = { account_id: accountId, client_combo_order_id: 'combination-1', new_orders };
  assert.equal((await ask(gateway, placePath, { body: JSON.stringify(placed) })).status, 200);
  assert.equal((await place('order-beside-it')).status, 200);
  await settle();
  assert.equal(await open(), '40');
  assert.equal((await change(cancelPath, { client_order_id: 'order-of-parts-0' })).status, 200);
  assert.equal((await settle()).released, 3);
  assert.equal(await open(), '10');
});

describe('a bracket', () => {
  const [enters, profits, loses] = ['bracket-enters', 'bracket-profits', 'bracket-loses'] as const;
  const order = { order_type: 'LIMIT', quantity: '10', time_in_force: 'GTC' };

  async function startBracket(t: TestContext, isLost = false) {
    const desk = await start(t, '10000');
    if (isLost) {
      await desk.place('order-beside-it');
      desk.simulator.trading.showAfter(40 * minute);
      desk.state.fault = { kind: 'drop-after' };
    }
    const part = (client_order_id: string, combo_type: string, more: object) =>
      newOrder({ ...order, client_order_id, combo_type, side: 'SELL', ...more });
    const new_orders = [
      part(profits, 'STOP_PROFIT', { limit_price: '400' }),
      part(enters, 'MASTER', { side: 'BUY', limit_price: '100' }),
      part(loses, 'STOP_LOSS', { order_type: 'STOP_LOSS', stop_price: '50' }),
    ];
    const placed = await ask(desk.gateway, placePath, {
      body: JSON.stringify({ account_id: accountId, client_combo_order_id: 'a-bracket-1', new_orders }),
    });
    desk.state.fault = undefined;
    assert.equal(placed.status, isLost ? 502 : 200, placed.text);
    assert.equal(await desk.open(), isLost ? '4010' : '4000');
    const ends = (clientOrderId: string) =>
      desk.settlement.saw({
        state: { account: accountId, clientOrderId, status: 'FILLED', filled: '10' },
        payload: '{}',
      });
    const replace = async (client_order_id: string, terms: object) => {
      const reply = await desk.change(replacePath, { modify_orders: [{ client_order_id, ...terms }] });
      return reply.status === 200 ? 'sent' : problemOf(reply).code;
    };
    return { ...desk, ends, replace };
  }

  test('counts until the last of its orders has ended', async (t) => {
    const { simulator, settle, open, ends } = await startBracket(t);
    simulator.trading.fill(accountId, enters);
    await ends(enters);
    await settle();
    assert.equal(await open(), '4000');
    simulator.trading.fill(accountId, profits);
    await ends(profits);
    await settle();
    assert.equal(await open(), '0');
  });

  test('leaves the open notional with its cancelled entry', async (t) => {
    const { change, settle, open } = await startBracket(t);
    assert.equal((await change(cancelPath, { client_order_id: enters })).status, 200);
    await settle();
    assert.equal(await open(), '0');
  });

  test('leaves the open notional with an entry that the upstream could not place', async (t) => {
    const { simulator, settle, open } = await startBracket(t);
    simulator.trading.failPlacing(accountId, enters);
    await settle();
    assert.equal(await open(), '0');
  });

  test('that seemed not to be placed counts again when an exit shows, although its entry has ended', async (t) => {
    const { simulator, settle, open } = await startBracket(t, true);
    for (let run = 0; run < 20; run++) await settle();
    assert.equal(await open(), '10');
    simulator.trading.fill(accountId, enters);
    for (let run = 0; run < 30; run++) await settle();
    assert.equal(await open(), '4010');
    simulator.trading.fill(accountId, profits);
    await settle();
    assert.equal(await open(), '10');
  });

  test('lets its exits be moved as far as it counts, and counts what goes beyond', async (t) => {
    const { replace, open, simulator, settle } = await startBracket(t);
    assert.equal(await replace(loses, { stop_price: '60' }), 'sent');
    assert.equal(await open(), '4000');
    assert.equal(await replace(profits, { limit_price: '450' }), 'sent');
    assert.equal(await open(), '4500');
    assert.equal(await replace(profits, { limit_price: '1000.01' }), 'order_blocked');
    assert.equal(await replace(profits, { limit_price: '1000' }), 'sent');
    assert.equal(await open(), '10000');
    for (const id of [enters, profits]) simulator.trading.fill(accountId, id);
    await settle();
    assert.equal(await open(), '0');
  });
});

describe('a replacement counts as what the order may be at most', () => {
  test('until the order ends', async (t) => {
    const { place, change, open, settle } = await start(t);
    const id = 'order-of-release-6';
    assert.equal((await place(id)).status, 200);
    const replace = (terms: object) =>
      change(replacePath, { modify_orders: [{ client_order_id: id, ...terms }] });
    assert.equal((await replace({ quantity: '40' })).status, 200);
    assert.equal(await open(), '40');
    assert.equal((await replace({ quantity: '20' })).status, 200);
    assert.equal(await open(), '40');
    const blocked = await replace({ quantity: '101' });
    assert.equal(problemOf(blocked).code, 'order_blocked');
    assert.equal(await open(), '40');
    assert.equal((await change(cancelPath, { client_order_id: id })).status, 200);
    await settle();
    assert.equal(await open(), '0');
  });
});

test('what is left counts against the next order', async (t) => {
  const { place, change, settle } = await start(t);
  assert.equal((await place('order-of-release-7', { quantity: '100' })).status, 200);
  assert.equal(
    problemOf(await place('order-of-release-8', { quantity: '1', limit_price: '0.01' })).code,
    'order_blocked',
  );
  assert.equal((await change(cancelPath, { client_order_id: 'order-of-release-7' })).status, 200);
  await settle();
  assert.equal((await place('order-of-release-8', { quantity: '100' })).status, 200);
});
