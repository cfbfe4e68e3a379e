/** The audit of orders: one line for each change, one event for what was settled, and who ordered what. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, type TestContext, test } from 'vitest';
import { createMemoryOrderAudit, createOrderAudit, type OrderAuditStore } from '../../lib/orders/audit.ts';
import type { EntryChange } from '../../lib/orders/audit-line.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { withChanges } from '../../lib/orders/journal-changes.ts';
import { orderSettled } from '../../lib/orders/schemas.ts';
import type { OrderSettledEvent } from '../../lib/orders/settled-event.ts';
import { orderedLine, whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { accountId, ask, orderBody, orderPath, problemOf } from '../support/core.ts';
import { names, settlementFor, startInstances } from '../support/instances.ts';
import { linesIn, orderAuditContract } from './audit.contract.ts';

orderAuditContract('in memory', createMemoryOrderAudit);

const start = Date.UTC(2026, 10, 20, 15);
const forEver = start + 86_400_000;

/** A gateway whose journal tells its changes, and an audit that has taken none of them yet. */
async function startAudited(t: TestContext, change: Partial<OrderAuditStore> = {}) {
  const state = { loses: false, clock: start, takes: true };
  const clock = () => state.clock;
  const changes: EntryChange[] = [];
  const journal = withChanges(createMemoryOrderJournal(), (one) => changes.push(one), clock);
  const { gateway, simulator } = await startInstances(t, 1, {
    simulated: { fault: () => (state.loses ? { kind: 'drop-after' } : undefined), clock },
    journal,
    options: { clock },
    sleep: async (ms) => {
      state.clock += ms;
    },
  });
  const store = { ...createMemoryOrderAudit(), ...change };
  const events: OrderSettledEvent[] = [];
  const bus = {
    async publish(published: readonly OrderSettledEvent[]) {
      if (state.takes) events.push(...published);
      return published.map(() => state.takes);
    },
  };
  const failures: unknown[] = [];
  const audit = createOrderAudit({ store, bus, names, reportFailure: (cause) => failures.push(cause) });
  const settlement = settlementFor(simulator.url, { journal, clock });
  const place = (id: string, more = {}) =>
    ask(gateway, orderPath, { body: orderBody({ client_order_id: id, ...more }) });
  return { state, gateway, changes, store, events, failures, audit, settlement, place, journal };
}

const detailOf = (event: OrderSettledEvent | undefined) =>
  v.parse(orderSettled, JSON.parse(event?.detail ?? 'null'));

describe('a line for each change', () => {
  test('an order that is accepted: begun, then accepted by its answer', async (t) => {
    const { place, audit, changes, store, events } = await startAudited(t);
    assert.equal((await place('audited-order-1')).status, 200);
    const { failed, ...counts } = await audit.take(changes);
    assert.deepEqual([failed, counts], [[], { added: 2, repeated: 0, settled: 0, unreadable: 0 }]);
    const lines = await linesIn(store, start, forEver);
    assert.deepEqual(
      lines.map(({ before, after, record }) => [before, after, record?.outcome?.evidence]),
      [
        [undefined, 'pending', undefined],
        ['pending', 'accepted', 'answer'],
      ],
    );
    assert.deepEqual(events, []);
  });

  test('a change that comes twice gives one line', async (t) => {
    const { place, audit, changes, store } = await startAudited(t);
    await place('audited-order-1');
    await audit.take(changes);
    const again = await audit.take([...changes, ...changes]);
    assert.deepEqual([again.added, again.repeated], [0, 4]);
    assert.equal((await linesIn(store, start, forEver)).length, 2);
  });

  test('an entry that is removed has a line, and one whose time is over has none', async (t) => {
    const { place, audit, changes, store } = await startAudited(t);
    await place('audited-order-1');
    const before = changes.at(-1)?.after;
    assert.ok(before);
    await audit.take([
      { sequence: '1', at: start, before },
      { sequence: '2', at: start, before, isExpiry: true },
    ]);
    const lines = await linesIn(store, start, forEver);
    assert.deepEqual(
      lines.map(({ before: was, after }) => [was, after]),
      [['accepted', 'removed']],
    );
  });
});

describe('OrderSettled', () => {
  test('tells that a lost order was found, by whom and how', async (t) => {
    const { state, place, audit, changes, events, settlement } = await startAudited(t);
    state.loses = true;
    const lost = await place('settled-order-1', { order_type: 'LIMIT', limit_price: '1.10' });
    assert.equal(problemOf(lost).code, 'outcome_unknown');
    await audit.take(changes.splice(0));
    assert.deepEqual(events, []);
    state.loses = false;
    await settlement.run(state.clock + 60_000);
    await audit.take(changes);
    assert.equal(events.length, 1);
    const detail = detailOf(events[0]);
    assert.deepEqual(
      [detail.state, detail.evidence, detail.account_id, detail.client_order_id, detail.operation],
      ['accepted', 'look_up', accountId, 'settled-order-1', 'placeOrder'],
    );
    assert.equal(detail.account, await names.nameOf('account', accountId));
    assert.ok(detail.order_id);
  });

  test('comes again with the same id when the bus did not take it, or the change comes again', async (t) => {
    const { state, place, audit, changes, events, settlement } = await startAudited(t);
    state.loses = true;
    await place('settled-order-1', { order_type: 'LIMIT', limit_price: '1.10' });
    state.loses = false;
    await settlement.run(state.clock + 60_000);
    state.takes = false;
    const { failed } = await audit.take(changes);
    assert.deepEqual(
      failed.map(({ after }) => after?.state),
      ['accepted'],
    );
    state.takes = true;
    assert.deepEqual((await audit.take(failed)).settled, 1);
    await audit.take(changes);
    assert.equal(new Set(events.map((event) => detailOf(event).event_id)).size, 1);
    assert.equal(events.length, 2);
  });

  test('also corrects what was called refused and is accepted', async (t) => {
    const { place, audit, changes, events } = await startAudited(t);
    await place('settled-order-1');
    const [begun, finished] = changes;
    assert.ok(begun?.after && finished?.after);
    const before = { ...begun.after, state: 'refused' as const };
    await audit.take([{ ...finished, before }]);
    assert.equal(detailOf(events[0]).state, 'accepted');
    // A refused entry that another request takes over is nothing that was settled.
    await audit.take([{ sequence: '9', at: start, before, after: begun.after }]);
    assert.equal(events.length, 1);
  });
});

describe('who ordered what', () => {
  test('answers with account, order, contents, outcome and times, byte for byte', async (t) => {
    const { state, place, audit, changes, store, settlement } = await startAudited(t);
    await place('audited-order-1', { quantity: '2' });
    state.loses = true;
    await place('audited-order-2', { order_type: 'LIMIT', limit_price: '1.10' });
    state.loses = false;
    const lostAt = state.clock;
    state.clock += 5000;
    await settlement.run(state.clock + 60_000);
    await audit.take(changes);
    const { ordered } = await whoOrderedWhat(store.read(start, forEver), {}, (user) => `user ${user}`);
    const [first, second] = ordered;
    assert.deepEqual(
      [first?.client_order_id, second?.client_order_id],
      ['audited-order-1', 'audited-order-2'],
    );
    assert.deepEqual([first?.account_id, first?.state, first?.evidence], [accountId, 'accepted', 'answer']);
    assert.deepEqual(
      second?.changes.map(({ before, after }) => [before, after]),
      [
        [undefined, 'pending'],
        ['pending', 'unknown'],
        ['unknown', 'accepted'],
      ],
    );
    assert.ok(second?.took_ms !== undefined && second.took_ms >= lostAt + 5000 - start);
    const text = orderedLine(second);
    assert.ok(!text.includes('\n') && text.includes(`,"asked":${second.asked},"answer":{`), text);
    assert.equal(JSON.parse(text).asked.new_orders[0].limit_price, '1.10');
  });

  test('is filtered by account, order and user', async (t) => {
    const { place, audit, changes, store } = await startAudited(t);
    for (const id of ['audited-order-1', 'audited-order-2']) await place(id);
    await audit.take(changes);
    const count = async (filter: Parameters<typeof whoOrderedWhat>[1]) =>
      (await whoOrderedWhat(store.read(start, forEver), filter)).ordered.length;
    assert.equal(await count({ account: accountId }), 2);
    assert.equal(await count({ account: 'another' }), 0);
    assert.equal(await count({ clientOrderId: 'audited-order-2' }), 1);
    assert.equal(await count({ user: (name) => name === 'another' }), 0);
    assert.equal(await count({ user: (name) => name === undefined }), 2);
  });
});
