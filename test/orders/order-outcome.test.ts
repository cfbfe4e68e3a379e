import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, type TestContext, test } from 'vitest';
import { createAccessAdmin, createDirectory, createMemoryAccessStore } from '../../lib/access/index.ts';
import { getOrderOutcome } from '../../lib/catalogue/index.ts';
import { createMemoryOrderJournal, JournalUnavailable, type OrderJournal } from '../../lib/orders/index.ts';
import { claimsOf, createTestAccess, user } from '../support/access.ts';
import {
  accountId,
  ask,
  coreFor,
  newOrder,
  orderBody,
  orderPath,
  problemOf,
  requestOf,
} from '../support/core.ts';
import { identity, names, startInstances } from '../support/instances.ts';

const minute = 60_000;
const targetOf = (id: string, account = accountId) =>
  `${getOrderOutcome.path}?account_id=${account}&client_order_id=${id}`;
const place = (id: string, change = {}) => ({ body: orderBody({ client_order_id: id, ...change }) });

async function outcomeOf(gateway: Parameters<typeof ask>[0], id: string) {
  const reply = await ask(gateway, targetOf(id));
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers['cache-control'], 'no-store');
  const outcome = v.parse(getOrderOutcome.response, JSON.parse(reply.text));
  assert.equal(outcome.client_order_id, id);
  return outcome;
}

/** An upstream on whose answers the test decides, and a clock that stands still but for pauses. */
async function startFaulty(t: TestContext) {
  const state = {
    fault: undefined as undefined | 'drop' | 'drop-after' | 'refuse',
    clock: Date.UTC(2026, 10, 20, 15),
  };
  const clock = () => state.clock;
  const refusal = { status: 417, body: { error_code: 'OPENAPI_NO_TRADING_TIME', message: 'no' } };
  const started = await startInstances(t, 2, {
    simulated: {
      clock,
      fault: () =>
        state.fault === 'refuse' ? { kind: 'status', ...refusal } : state.fault && { kind: state.fault },
    },
    options: { clock },
    sleep: async (ms) => {
      state.clock += ms;
    },
  });
  return { state, ...started };
}

describe('what became of an order', () => {
  test('is accepted, with its id and the request that placed it, at every instance, and nothing is sent for it', async (t) => {
    const { gateways, simulator, state } = await startFaulty(t);
    const placed = JSON.parse(
      (await ask(gateways[0]!, orderPath, { ...place('an-accepted-order'), requestId: 'request-of-it' }))
        .text,
    );
    const sent = simulator.received.length;
    const at = new Date(state.clock).toISOString();
    assert.deepEqual(await outcomeOf(gateways[1]!, 'an-accepted-order'), {
      client_order_id: 'an-accepted-order',
      state: 'accepted',
      begun_at: at,
      settled_at: at,
      evidence: 'answer',
      order_id: placed.order_id,
      request_id: 'request-of-it',
    });
    assert.equal(simulator.received.length, sent);
  });

  test('is not recorded, where the gateway was never asked to place it', async (t) => {
    const { gateway, simulator } = await startFaulty(t);
    assert.deepEqual(await outcomeOf(gateway, 'never-heard-of'), {
      client_order_id: 'never-heard-of',
      state: 'not_recorded',
    });
    assert.equal(simulator.received.length, 0);
  });

  test('is refused with the upstream’s code, accepted after the next try, and unknown after a lost answer', async (t) => {
    const { gateway, state } = await startFaulty(t);
    state.fault = 'refuse';
    await ask(gateway, orderPath, place('a-refused-order'));
    const {
      state: refused,
      evidence,
      code,
      upstream_error_code,
    } = await outcomeOf(gateway, 'a-refused-order');
    assert.deepEqual(
      { refused, evidence, code, upstream_error_code },
      {
        refused: 'refused',
        evidence: 'answer',
        code: 'upstream_rejected',
        upstream_error_code: 'OPENAPI_NO_TRADING_TIME',
      },
    );
    state.fault = undefined;
    await ask(gateway, orderPath, place('a-refused-order', { quantity: '11' }));
    assert.equal((await outcomeOf(gateway, 'a-refused-order')).state, 'accepted');
    state.fault = 'drop-after';
    await ask(gateway, orderPath, place('a-lost-order'));
    const lost = await outcomeOf(gateway, 'a-lost-order');
    assert.deepEqual([lost.state, lost.code, lost.settled_at], ['unknown', 'outcome_unknown', undefined]);
  });

  test('of each order of a combination is that of the whole', async (t) => {
    const { gateway } = await startInstances(t, 1);
    const orders = ['MASTER', 'STOP_PROFIT'].map((combo_type, index) =>
      newOrder({
        client_order_id: `part-of-a-whole-${index}`,
        combo_type,
        order_type: 'LIMIT',
        limit_price: '1.00',
        ...(index > 0 && { side: 'SELL', limit_price: '900.00' }),
      }),
    );
    const reply = await ask(gateway, orderPath, {
      body: JSON.stringify({
        account_id: accountId,
        client_combo_order_id: 'a-combination',
        new_orders: orders,
      }),
    });
    assert.equal(reply.status, 200, reply.text);
    const { combo_order_id } = JSON.parse(reply.text);
    for (const { client_order_id } of orders) {
      const outcome = await outcomeOf(gateway, client_order_id);
      assert.deepEqual([outcome.state, outcome.combo_order_id], ['accepted', combo_order_id]);
    }
  });

  test('is pending while a request is under way, and unknown when its instance must have ended', async (t) => {
    const { gateway, state, journal } = await startFaulty(t);
    let entries: Parameters<OrderJournal['begin']>[0] = [];
    const dying: OrderJournal = {
      ...journal,
      begin: async (begun, now) => {
        entries = begun;
        await journal.begin(begun, now);
        return new Promise(() => {});
      },
    };
    const { instance } = await startInstances(t, 0, { journal, options: { clock: () => state.clock } });
    void ask(instance(dying), orderPath, place('a-pending-order'));
    while (entries.length === 0) await new Promise(setImmediate);
    assert.equal((await outcomeOf(gateway, 'a-pending-order')).state, 'pending');
    state.clock += 2 * minute;
    assert.equal((await outcomeOf(gateway, 'a-pending-order')).state, 'unknown');
  });
});

test('an account that was not granted is refused, and a user without the scope', async (t) => {
  const store = createMemoryAccessStore();
  const admin = createAccessAdmin({ store, identity, by: 'a test' });
  const { access } = createTestAccess({ directory: createDirectory({ store, identity }), names });
  const orders = { journal: createMemoryOrderJournal(), names };
  const { gateway } = await coreFor(t, {}, { access, orders });
  const grant = (name: string, scope: 'read' | 'trade') =>
    admin.apply({
      action: 'grant',
      subject: user(name),
      accounts: [accountId],
      userData: false,
      scopes: [scope],
    });
  await grant('reader', 'read');
  await grant('trader', 'trade');
  const askAs = async (name: string, account?: string) => {
    const evidence = { claims: claimsOf(name) };
    const { status, body } = await gateway.handle({
      ...requestOf(targetOf('an-order-of-it', account)),
      evidence,
    });
    return [status, JSON.parse(new TextDecoder().decode(body)).code];
  };
  assert.deepEqual(await askAs('reader'), [200, undefined]);
  assert.deepEqual(await askAs('reader', 'B1N6UY3G8W0JFS7QTC2IE9OH4M'), [403, 'account_not_granted']);
  assert.deepEqual(await askAs('trader'), [403, 'insufficient_scope']);
});

test('while the journal is away the answer says that it cannot be read, and reports why', async (t) => {
  const cause = new JournalUnavailable();
  const away = async () => {
    throw cause;
  };
  const journal: OrderJournal = { begin: away, finish: away, read: away, unsettled: away };
  const reported: unknown[] = [];
  const { gateway } = await coreFor(
    t,
    {},
    { orders: { journal, names, reportFailure: (...given) => reported.push(given) } },
  );
  const problem = problemOf(await ask(gateway, targetOf('an-order-of-it')));
  assert.deepEqual([problem.status, problem.code], [503, 'journal_unavailable']);
  assert.match(problem.detail, /cannot read/);
  // It says nothing of the order, so not that it was not sent.
  assert.doesNotMatch(problem.detail, /not sent|no effect/);
  assert.deepEqual(reported, [['read', cause]]);
});

test('a gateway without a journal does not have it', async (t) => {
  const { gateway, simulator } = await coreFor(t);
  const problem = problemOf(await ask(gateway, targetOf('an-order-of-it')));
  assert.deepEqual([problem.status, problem.code], [404, 'unknown_operation']);
  assert.match(problem.detail, /getOrder/);
  assert.equal(simulator.received.length, 0);
});
