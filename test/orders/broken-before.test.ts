/** Sequences that once made the journal or the counters say what was not true. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'vitest';
import { type Answer, refused } from '../../lib/answer.ts';
import { batchPlaceOrders, placeOrder } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { createHandOver } from '../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement, type JournalEntry } from '../../lib/orders/index.ts';
import { orderOutcome } from '../../lib/orders/order-outcome.ts';
import type { ReadOrder } from '../../lib/orders/order-reads.ts';
import { termsOf } from '../../lib/orders/order-state.ts';
import { newOrder } from '../support/orders.ts';

const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const startedAt = Date.UTC(2026, 10, 20, 15);
const minute = 60_000;
const account = 'a';
const id = 'order-1';
const terms = { order_type: 'LIMIT', limit_price: '10', quantity: '10' };
const taken: Answer = { kind: 'uncached', body: new TextEncoder().encode('{"order_id":"7"}') };
const rejected = refused({ code: 'upstream_rejected', upstream: { status: 417, errorCode: 'REFUSED' } });
const lost = refused({ code: 'outcome_unknown' });
const codeOf = (answer: Answer) => (answer.kind === 'refused' ? answer.refusal.code : 'sent');

/** A hand-over under a limit of open notional, a settlement, and what the upstream shows to both. */
function startDesk() {
  const journal = createMemoryOrderJournal();
  const controls = createMemoryControls();
  controls.set('stack', { limits: { max_open_notional: '100000' } });
  const state = {
    now: startedAt,
    outcome: taken as Answer,
    sent: 0,
    credential: 'one',
    /** By id. */
    shown: new Map<string, ReadOrder>(),
    isBlind: false,
    /** Its look-up is answered with nothing that can be read. */
    broken: '',
    /** Happens between a request and its answer. */
    whileSent: async () => {},
    lookedUp: [] as string[],
    /** How long a read takes. */
    readMs: 0,
  };
  const clock = () => state.now;
  const sleep = async (ms: number) => {
    state.now += ms;
  };
  const look = async (_: string, clientOrderId: string) => {
    state.now += state.readMs;
    state.lookedUp.push(clientOrderId);
    if (clientOrderId === state.broken) throw new Error('not readable');
    return (state.isBlind ? undefined : state.shown.get(clientOrderId)) ?? ('not_found' as const);
  };
  const all = () => (state.isBlind ? [] : [...state.shown.values()]);
  const handOver = createHandOver({ journal, names, clock, sleep, guard: { controls, journal } });
  const settlement = createSettlement({
    journal,
    names,
    clock,
    sleep,
    orders: {
      openOrders: async () => all().filter((one) => one.state.status === 'SUBMITTED'),
      ordersSince: async () => all(),
      order: look,
    },
  });
  const request = (operation: Operation, body: object) =>
    handOver.run(
      {
        operation,
        query: [],
        body: JSON.stringify({ account_id: account, ...body }),
        headers: {},
        credential: state.credential,
        requestId: 'r',
        deadline: state.now + 29_000,
      },
      {
        async send() {
          state.sent++;
          await state.whileSent();
          return state.outcome;
        },
        lookUp: look,
      },
    );
  return {
    state,
    journal,
    settlement,
    request,
    place: async (clientOrderId = id) =>
      codeOf(
        await request(placeOrder, { new_orders: [newOrder({ client_order_id: clientOrderId, ...terms })] }),
      ),
    /** Runs, a minute from one to the next. */
    async settle(runs = 1) {
      for (let run = 0; run < runs; run++) {
        state.now += minute;
        await settlement.run(state.now + 40_000);
      }
    },
    show(clientOrderId: string, status: string, more: object = {}) {
      const payload = { client_order_id: clientOrderId, order_id: '7', symbol: 'AAPL', side: 'BUY', ...more };
      const members = Object.entries(payload).map(([name, value]) => [name, String(value)] as const);
      state.shown.set(clientOrderId, {
        state: { account, clientOrderId, status, filled: '0', terms: termsOf(new Map(members)) },
        payload: JSON.stringify(payload),
      });
    },
    async open() {
      const [counter] = await journal.counters(['counter stack']);
      return (JSON.parse(counter?.state ?? '{"open":"0"}') as { open: string }).open;
    },
    outcome: async (clientOrderId = id) =>
      (await orderOutcome({ journal, names }, { account, clientOrderId }, state.now)).state,
  };
}

const unknown = (key: string, listedAs: JournalEntry['listedAs'], kind: string): JournalEntry => ({
  key,
  attempt: 'attempt',
  hash: 'hash',
  state: 'unknown',
  credential: 'one',
  at: startedAt,
  sendBy: startedAt,
  ...(listedAs && { listedAs }),
  record: JSON.stringify({
    operation: 'of this test',
    kind,
    account_id: account,
    client_order_id: key,
    asked: '{}',
    request_id: 'r',
    begun_at: new Date(startedAt).toISOString(),
  }),
});

describe('an exposure belongs to the attempt that sent it', () => {
  test('a release of the first attempt that comes late leaves that of the second', async () => {
    const { state, journal, place, open } = startDesk();
    const { change } = journal;
    let isLate = true;
    journal.change = async (changes) => {
      if (isLate && changes.exposures.length > 0) {
        isLate = false;
        state.outcome = taken;
        assert.equal(await place(), 'sent');
      }
      return change(changes);
    };
    state.outcome = rejected;
    assert.equal(await place(), 'upstream_rejected');
    assert.deepEqual([state.sent, isLate, await open()], [2, false, '100']);
  });
});

describe('what stays unknown does not hold up the rest', () => {
  test('a lost placement is looked up in the next run, beside 2,000 replacements that no evidence decides', async () => {
    const { state, journal, settle, place, show, outcome } = startDesk();
    for (let index = 0; index < 2000; index++)
      await journal.begin([unknown(`replacement-${index}`, 'changes', 'replacement')], state.now);
    state.outcome = lost;
    assert.equal(await place(), 'outcome_unknown');
    show(id, 'SUBMITTED', terms);
    state.readMs = 1000;
    await settle();
    assert.equal(await outcome(), 'accepted');
  });

  test('each of 400 unknown placements has its turn in sixty runs that come to twenty each', async () => {
    const { state, journal, settlement } = startDesk();
    const keys = Array.from({ length: 400 }, (_, index) =>
      createHash('sha256').update(`${index}`).digest('base64url').slice(0, 22),
    );
    for (const key of keys) await journal.begin([unknown(key, 'placements', 'placement')], state.now);
    state.readMs = 1000;
    for (let run = 0; run < 60; run++) {
      state.now = startedAt + (run + 5) * minute;
      await settlement.run(state.now + 40_000);
    }
    const seen = new Set(state.lookedUp);
    assert.deepEqual(
      keys.filter((key) => !seen.has(key)),
      [],
    );
  });

  test('an order that ended leaves the counter, beside 1,500 that stay open', async () => {
    const { state, settle, place, show, open } = startDesk();
    for (let index = 0; index < 1501; index++) {
      const one = `order-${index}`;
      state.now += 100;
      assert.equal(await place(one), index < 1000 ? 'sent' : 'order_blocked');
      show(one, 'SUBMITTED', terms);
    }
    show('order-999', 'CANCELLED', terms);
    await settle(5);
    assert.equal(await open(), '99900');
  });
});

describe('another app key of the same account', () => {
  test('sends nothing again, settles what the other one left, and counts on', async () => {
    const { state, settle, place, show, outcome, open } = startDesk();
    state.outcome = lost;
    assert.equal(await place(), 'outcome_unknown');
    state.credential = 'two';
    assert.equal(await place(), 'outcome_unknown');
    assert.equal(state.sent, 1);
    state.outcome = taken;
    assert.equal(await place('order-2'), 'sent');
    assert.equal(await open(), '200');
    show(id, 'SUBMITTED', terms);
    await settle();
    assert.deepEqual([await outcome(), state.sent], ['accepted', 2]);
    show(id, 'CANCELLED', terms);
    await settle(2);
    assert.equal(await open(), '100');
  });
});

describe('that a look-up finds nothing', () => {
  test('takes no order out of the counter that an answer has accepted', async () => {
    const { state, settle, place, open, outcome } = startDesk();
    assert.equal(await place(), 'sent');
    await settle(40);
    state.isBlind = true;
    await settle(40);
    assert.deepEqual([await open(), await outcome()], ['100', 'accepted']);
  });

  test('says nothing while it finds no order of the account that lists show', async () => {
    const { state, settle, place, show, outcome } = startDesk();
    show('another-order', 'FILLED');
    state.outcome = lost;
    await place();
    const { get } = state.shown;
    state.shown.get = () => undefined;
    await settle(60);
    assert.equal(await outcome(), 'unknown');
    state.shown.get = get;
    await settle(3);
    assert.equal(await outcome(), 'unknown');
    await settle(5);
    assert.equal(await outcome(), 'refused');
  });

  test('counts in time, although one order of the account cannot be read', async () => {
    const { state, show, place, settle, outcome } = startDesk();
    for (const [first, second] of [
      ['order-2', 'order-3'],
      ['order-3', 'order-2'],
    ] as const) {
      state.shown.clear();
      show(first, 'SUBMITTED');
      show(second, 'SUBMITTED');
      state.broken = 'order-2';
      state.outcome = lost;
      const lostId = `order-beside-${first}`;
      assert.equal(await place(lostId), 'outcome_unknown');
      await settle(13);
      assert.equal(await outcome(lostId), 'refused', first);
    }
  });

  test('says once in a wrong run nothing at all', async () => {
    const { state, settle, place, show, outcome, open } = startDesk();
    show('another-order', 'SUBMITTED');
    state.outcome = lost;
    await place();
    show(id, 'SUBMITTED', terms);
    state.now += 30 * minute;
    state.isBlind = true;
    await settle();
    assert.equal(await outcome(), 'unknown');
    state.isBlind = false;
    await settle();
    assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
  });

  test('counts after a day, of an account in which look-ups have nothing to find', async () => {
    const { state, settle, settlement, place, outcome, open } = startDesk();
    state.outcome = lost;
    await place();
    await settle(60);
    assert.equal(await outcome(), 'unknown');
    const { left, apart, oldestMs } = await settlement.run(state.now + 40_000);
    assert.deepEqual([left, apart, oldestMs], [0, 1, 0]);
    state.now += 24 * 60 * minute;
    await settle(2);
    assert.deepEqual([await outcome(), await open()], ['refused', '0']);
  });

  test('is taken back when the order shows after all: it is accepted, and counted again', async () => {
    const { state, settle, settlement, place, show, outcome, open } = startDesk();
    show('another-order', 'FILLED');
    state.outcome = lost;
    await place();
    await settle(20);
    assert.deepEqual([await outcome(), await open()], ['refused', '0']);
    show(id, 'SUBMITTED', { ...terms, place_time: startedAt + 10 });
    const seen = state.shown.get(id)!;
    assert.equal(await settlement.saw(seen), true);
    assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    assert.equal(await settlement.saw(seen), false);
    assert.equal(await open(), '100');
    show(id, 'FILLED', terms);
    await settlement.saw(state.shown.get(id)!);
    assert.equal(await open(), '0');
  });
});

test('an answer that comes when look-ups have given the order up counts it again', async () => {
  const { state, settle, place, show, outcome, open } = startDesk();
  show('another-order', 'FILLED');
  // Its instance is suspended.
  state.whileSent = async () => {
    await settle(20);
    assert.deepEqual([await outcome(), await open()], ['refused', '0']);
  };
  assert.equal(await place(), 'sent');
  assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
});

describe('an order with the id, and with other terms than were asked for', () => {
  for (const [what, placedAt, code, state] of [
    [
      'placed an hour before is another program’s: nothing was placed',
      -60 * minute,
      'idempotency_conflict',
      'refused',
    ],
    ['placed in the minute before may be either', -1000, 'outcome_unknown', 'unknown'],
    ['placed since is this one, replaced', 500, 'sent', 'accepted'],
  ] as const)
    test(what, async () => {
      const desk = startDesk();
      desk.state.outcome = lost;
      desk.show(id, 'SUBMITTED', { total_quantity: '3', place_time: startedAt + placedAt });
      assert.equal(await desk.place(), code);
      assert.equal(await desk.outcome(), state);
    });

  test('where the upstream does not say when it was placed, it stays unknown', async () => {
    const { state, settle, place, show, outcome, open } = startDesk();
    state.outcome = lost;
    show(id, 'SUBMITTED', { total_quantity: '3' });
    assert.equal(await place(), 'outcome_unknown');
    await settle(30);
    assert.deepEqual([await outcome(), await open()], ['unknown', '100']);
  });
});

test('a counter that has less than its orders say is put right within the hour; one that has more is told of', async () => {
  const { state, journal, settlement, place, open } = startDesk();
  for (const one of ['order-1', 'order-2']) assert.equal(await place(one), 'sent');
  const set = async (text: string) => {
    const [{ key, revision } = { key: '', revision: 0 }] = await journal.counters(['counter stack']);
    const next = JSON.stringify({ open: text, recent: [] });
    await journal.change({ counters: [{ key, revision, next }], exposures: [] });
  };
  const compared = async () => {
    for (;;) {
      state.now += minute;
      const report = await settlement.run(state.now);
      if (report.compared) return report.compared;
    }
  };
  await set('100');
  assert.deepEqual(await compared(), { counters: 1, raised: 1, above: 0 });
  assert.equal(await open(), '200');
  await set('300');
  assert.deepEqual(await compared(), { counters: 1, raised: 0, above: 1 });
  assert.equal(await open(), '300');
});

test('a part of a batch that has an error and an id of the upstream is not called refused', async () => {
  const { state, request, outcome } = startDesk();
  const part = { client_order_id: id, order_id: '7', error_code: 'SOMETHING_ELSE' };
  state.outcome = {
    kind: 'uncached',
    body: new TextEncoder().encode(JSON.stringify({ batch_orders: [part] })),
  };
  const batch_orders = [newOrder({ client_order_id: id, ...terms })];
  assert.equal(codeOf(await request(batchPlaceOrders, { batch_orders })), 'outcome_unknown');
  assert.equal(await outcome(), 'unknown');
});
