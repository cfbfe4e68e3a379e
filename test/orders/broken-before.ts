/** Sequences that once made the journal or the counters say what was not true: each by its name, in groups. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Answer, refused } from '../../lib/answer.ts';
import { batchPlaceOrders, cancelOrder, placeOrder, replaceOrder } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import type { JournalEntry } from '../../lib/orders/index.ts';
import { meansOrder, openOrderOf } from '../../lib/orders/mass-cancel-scope.ts';
import { orderOutcome } from '../../lib/orders/order-outcome.ts';
import type { ReadOrder } from '../../lib/orders/order-reads.ts';
import { termsOf } from '../../lib/orders/order-state.ts';
import { answered, newOrder, takenAnswer } from '../support/orders.ts';
import type { Subject } from './model/history.ts';

const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const startedAt = Date.UTC(2026, 10, 20, 15);
const minute = 60_000;
const account = 'a';
const id = 'order-1';
const terms = { order_type: 'LIMIT', limit_price: '10', quantity: '10' };
/** The upstream takes what is asked, and names it. */
const taken = answered('taken');
const rejected = refused({ code: 'upstream_rejected', upstream: { status: 417, errorCode: 'REFUSED' } });
const lost = refused({ code: 'outcome_unknown' });
/** An order has the id already: another program's, or this one, which something on the way delivered twice. */
const usedUp = refused({
  code: 'outcome_unknown',
  upstream: { status: 417, errorCode: 'OPENAPI_TRADE_PLACE_ORDER_REPEAT' },
});
const codeOf = (answer: Answer) => (answer.kind === 'refused' ? answer.refusal.code : 'sent');

/** A hand-over under a limit of open notional, a settlement, and what the upstream shows to both. */
function startDesk({ createHandOver, createMemoryOrderJournal, createSettlement }: Subject) {
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
    user: undefined as string | undefined,
    /** How often open orders were listed. */
    listed: 0,
    /** How long a read takes. */
    readMs: 0,
    /** How long a list takes that then fails; 0: it does not. */
    listMs: 0,
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
      async openOrders() {
        state.listed++;
        state.now += state.listMs;
        if (state.listMs > 0) throw new Error('too slow');
        return all().filter((one) => one.state.status === 'SUBMITTED');
      },
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
        ...(state.user !== undefined && { user: state.user }),
        deadline: state.now + 29_000,
      },
      {
        async send(body) {
          state.sent++;
          await state.whileSent();
          return state.outcome === taken ? takenAnswer(body) : state.outcome;
        },
        lookUp: look,
      },
    );
  return {
    state,
    controls,
    journal,
    settlement,
    request,
    place: async (clientOrderId = id, more: object = {}) =>
      codeOf(
        await request(placeOrder, {
          new_orders: [newOrder({ client_order_id: clientOrderId, ...terms, ...more })],
        }),
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

/** An order that was lost, and is settled by two absences. */
async function startAbsent(subject: Subject, more: object = {}) {
  const desk = startDesk(subject);
  const { state, settle, place, show, outcome, open } = desk;
  show('another-order', 'FILLED');
  Object.assign(state, { outcome: lost, user: 'ada' });
  await place(id, more);
  await settle(20);
  assert.deepEqual([await outcome(), await open()], ['refused', '0']);
  state.listed = 0;
  return desk;
}

const entryKey = (clientOrderId: string) => ['entry', 'order', account, clientOrderId].join('|');

const keyedNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    createHash('sha256').update(`${index}`).digest('base64url').slice(0, 22),
  );

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

export const brokenBefore: Readonly<
  Record<string, Readonly<Record<string, (subject: Subject) => Promise<void>>>>
> = {
  'an exposure belongs to the attempt that sent it': {
    'a release of the first attempt that comes late leaves that of the second': async (subject) => {
      const { state, journal, place, open } = startDesk(subject);
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
    },
  },

  'what stays unknown does not hold up the rest': {
    'a lost placement is looked up in the next run, beside 2,000 replacements that no evidence decides':
      async (subject) => {
        const { state, journal, settle, place, show, outcome } = startDesk(subject);
        for (const key of keyedNames(2000))
          await journal.begin([unknown(key, 'changes', 'replacement')], state.now);
        state.outcome = lost;
        assert.equal(await place(), 'outcome_unknown');
        // No list of open orders shows it.
        show(id, 'FILLED', terms);
        state.readMs = 1000;
        await settle();
        assert.equal(await outcome(), 'accepted');
      },

    'each of 400 unknown placements has its turn in sixty runs that come to twenty each': async (subject) => {
      const { state, journal, settlement } = startDesk(subject);
      const keys = keyedNames(400);
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
    },

    'an order that ended leaves the counter, beside 1,500 that stay open': async (subject) => {
      const { state, settle, place, show, open } = startDesk(subject);
      for (let index = 0; index < 1501; index++) {
        const one = `order-${index}`;
        state.now += 100;
        assert.equal(await place(one), index < 1000 ? 'sent' : 'order_blocked');
        show(one, 'SUBMITTED', terms);
      }
      show('order-999', 'CANCELLED', terms);
      await settle(5);
      assert.equal(await open(), '99900');
    },
  },

  'lists that are slow, and fail': {
    'leave time for look-ups': async (subject) => {
      const { state, settle, place, show, outcome } = startDesk(subject);
      const ids = ['order-1', 'order-2', 'order-3'];
      state.outcome = lost;
      for (const one of ids) await place(one);
      for (const one of ids) show(one, 'SUBMITTED', terms);
      state.listMs = 45_000;
      await settle(9);
      for (const one of ids) assert.equal(await outcome(one), 'accepted', one);
    },
  },

  'another app key of the same account': {
    'sends nothing again, settles what the other one left, and counts on': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
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
    },
  },

  'that a look-up finds nothing': {
    'takes no order out of the counter that an answer has accepted': async (subject) => {
      const { state, settle, place, open, outcome } = startDesk(subject);
      assert.equal(await place(), 'sent');
      await settle(40);
      state.isBlind = true;
      await settle(40);
      assert.deepEqual([await open(), await outcome()], ['100', 'accepted']);
    },

    'says nothing while it finds no order of the account that lists show': async (subject) => {
      const { state, settle, place, show, outcome } = startDesk(subject);
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
    },

    'counts for less than a list that shows the order': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'SUBMITTED');
      state.outcome = lost;
      await place();
      show(id, 'SUBMITTED', terms);
      // The look-up alone does not find it.
      const { get } = state.shown;
      state.shown.get = (one) => (one === id ? undefined : get.call(state.shown, one));
      await settle(20);
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    },

    'counts in time, although one order of the account cannot be read': async (subject) => {
      const { state, show, place, settle, outcome } = startDesk(subject);
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
    },

    'says once in a wrong run nothing at all': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
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
    },

    'says nothing of an order that came after the first of the two look-ups': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'FILLED');
      state.outcome = lost;
      await place();
      await settle(3);
      show(id, 'SUBMITTED', { ...terms, place_time: state.now });
      const late = state.shown.get(id)!;
      // No run comes to it meanwhile, and then a single look-up is wrong.
      state.now += 10 * minute;
      state.shown.delete(id);
      await settle();
      state.shown.set(id, late);
      await settle();
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    },

    'counts after a day, of an account in which look-ups have nothing to find': async (subject) => {
      const { state, settle, settlement, place, outcome, open } = startDesk(subject);
      state.outcome = lost;
      await place();
      await settle(60);
      assert.equal(await outcome(), 'unknown');
      const { left, apart, oldestMs } = await settlement.run(state.now + 40_000);
      assert.deepEqual([left, apart, oldestMs], [0, 1, 0]);
      state.now += 24 * 60 * minute;
      await settle(2);
      assert.deepEqual([await outcome(), await open()], ['refused', '0']);
    },

    'counts for nothing after something was seen under the id': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'FILLED');
      state.outcome = lost;
      await place();
      await settle(9);
      show(id, 'SUBMITTED', { total_quantity: '3' });
      await settle(5);
      const { get } = state.shown;
      state.shown.get = (one) => (one === id ? undefined : get.call(state.shown, one));
      state.shown.values = () =>
        new Map([['another-order', get.call(state.shown, 'another-order')!]]).values();
      await settle();
      assert.deepEqual([await outcome(), await open()], ['unknown', '100']);
    },

    'is known of an order although a retry is blocked: it is accepted when it shows': async (subject) => {
      const { state, controls, settle, settlement, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'FILLED');
      state.outcome = lost;
      await place();
      await settle(20);
      controls.set('stack', { limits: { max_open_notional: '100000' }, stopped: { at: 1 } });
      state.now += 10_000;
      assert.equal(await place(), 'order_blocked');
      show(id, 'SUBMITTED', terms);
      assert.equal(await settlement.saw(state.shown.get(id)!), true);
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    },

    'is released by no run that listed it as refused before it showed': async (subject) => {
      const { state, journal, settle, settlement, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'FILLED');
      state.outcome = lost;
      await place();
      const { exposed } = journal;
      journal.exposed = async (...given) => {
        const listed = await exposed(...given);
        if (listed.every((entry) => entry.state !== 'refused')) return listed;
        show(id, 'SUBMITTED', terms);
        await settlement.saw(state.shown.get(id)!);
        return listed;
      };
      await settle(20);
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    },

    'is what an earlier order with the id comes to that failed': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'FILLED');
      show(id, 'FAILED', { total_quantity: '3', place_time: startedAt - 60 * minute });
      state.outcome = lost;
      assert.equal(await place(), 'outcome_unknown');
      await settle(3);
      assert.deepEqual([await outcome(), await open(), state.sent], ['unknown', '100', 1]);
      await settle(20);
      assert.deepEqual([await outcome(), await open()], ['refused', '0']);
    },

    'counts for less than a list that shows the order, where the look-up shows an earlier one that failed':
      async (subject) => {
        const { state, settle, place, show, outcome, open } = startDesk(subject);
        show('another-order', 'SUBMITTED');
        show(id, 'FAILED', { ...terms, place_time: startedAt - 60 * minute });
        const earlier = state.shown.get(id);
        state.outcome = lost;
        const { get } = state.shown;
        state.shown.get = (one) => (one === id ? earlier : get.call(state.shown, one));
        await place();
        show(id, 'SUBMITTED', terms);
        for (let run = 0; run < 20; run++) {
          await settle();
          assert.notEqual(await outcome(), 'refused');
        }
        assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
      },

    'takes no order out of the counter that an answer has accepted, where an earlier one shows that failed':
      async (subject) => {
        const { settle, place, show, open } = startDesk(subject);
        show(id, 'FAILED', { place_time: startedAt - 60 * minute });
        assert.equal(await place(), 'sent');
        await settle(3);
        assert.equal(await open(), '100');
        show(id, 'FAILED', { place_time: startedAt - 1000 });
        await settle();
        assert.equal(await open(), '0');
      },

    'is taken back when the order shows after all: it is accepted, and counted again': async (subject) => {
      const { state, settle, settlement, place, show, outcome, open } = startDesk(subject);
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
    },

    'is taken back without an event, when the list of open orders shows the order': async (subject) => {
      const { settle, show, outcome, open } = await startAbsent(subject);
      await settle(60);
      assert.deepEqual([await outcome(), await open()], ['refused', '0']);
      show(id, 'SUBMITTED', { ...terms, place_time: startedAt + 10 });
      await settle(5);
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
      show(id, 'CANCELLED', terms);
      await settle();
      assert.equal(await open(), '0');
    },

    'is taken back with its bracket, of which the entry is filled, and the exit is open': async (subject) => {
      const { state, controls, settle, request, show, open } = startDesk(subject);
      controls.set('stack', { limits: { max_open_notional: '100000', allow_unknown: ['price'] } });
      const combination = { client_combo_order_id: 'bracket-1' };
      const bracket = [
        newOrder({ ...terms, client_order_id: 'entry-1', combo_type: 'MASTER' }),
        newOrder({
          ...terms,
          client_order_id: 'exit-1',
          combo_type: 'STOP_PROFIT',
          side: 'SELL',
          limit_price: '11',
        }),
      ];
      show('another-order', 'FILLED');
      state.outcome = lost;
      assert.equal(
        codeOf(await request(placeOrder, { ...combination, new_orders: bracket })),
        'outcome_unknown',
      );
      const counted = await open();
      await settle(20);
      assert.equal(await open(), '0');
      show('exit-1', 'SUBMITTED', { ...terms, combo_type: 'STOP_PROFIT', side: 'SELL', limit_price: '11' });
      await settle(5);
      assert.equal(await open(), counted);
      show('exit-1', 'CANCELLED', terms);
      show('entry-1', 'FILLED', terms);
      await settle(2);
      assert.equal(await open(), '0');
    },

    'is taken back without an event also months later, within the hour': async (subject) => {
      const { state, settle, show, outcome, open } = await startAbsent(subject);
      for (const days of [2, 100, 200]) {
        state.now += days * 24 * 60 * minute;
        await settle(60);
        assert.deepEqual([await outcome(), await open()], ['refused', '0']);
      }
      show(id, 'SUBMITTED', { ...terms, place_time: startedAt + 10 });
      await settle(60);
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    },

    'is compared with lists for as long as the order may live, and then no more': async (subject) => {
      for (const [time_in_force, days] of [
        ['GTC', 366],
        ['DAY', 8],
      ] as const) {
        const { state, settle, journal } = await startAbsent(subject, { time_in_force });
        const watched = async () => (await journal.unsettled('unseen', '', 10)).length;
        state.now = startedAt + days * 24 * 60 * minute - 70 * minute;
        await settle(60);
        assert.equal(await watched(), 1, time_in_force);
        await settle(11);
        assert.equal(await watched(), 0, time_in_force);
        const before = state.listed;
        await settle(120);
        assert.equal(state.listed, before);
      }
    },

    'takes at most 2 % of the reads of lists that the published limit allows': async (subject) => {
      const { state, settle } = await startAbsent(subject);
      const readsOfDay = async () => {
        const before = state.listed;
        await settle(24 * 60);
        return state.listed - before;
      };
      assert.deepEqual([await readsOfDay(), await readsOfDay()], [286, 24]);
    },

    'is taken back by a replacement, which leaves the order its entry': async (subject) => {
      const { state, journal, settle, place, request, show, outcome, open } = await startAbsent(subject);
      const stored = async () => (await journal.read([entryKey(id)])).get(entryKey(id))!;
      const before = await stored();
      show(id, 'SUBMITTED', { ...terms, place_time: startedAt + 10 });
      state.outcome = taken;
      const modify_orders = [{ client_order_id: id, quantity: '12' }];
      assert.equal(codeOf(await request(replaceOrder, { modify_orders })), 'sent');
      assert.deepEqual([await outcome(), await open()], ['accepted', '120']);
      const { hash, attempt, record } = await stored();
      assert.deepEqual([hash, attempt], [before.hash, before.attempt]);
      const { user, asked } = JSON.parse(record);
      assert.deepEqual([user, asked], ['ada', JSON.parse(before.record).asked]);
      // The order that was sent first is that one, and a mass cancel for its user means it.
      assert.deepEqual([await place(), state.sent], ['sent', 2]);
      const shown = openOrderOf(state.shown.get(id)!, await stored());
      assert.ok(meansOrder({ id: '1', at: state.now, scope: 'user ada', placedBefore: state.now }, shown));
      show(id, 'CANCELLED', terms);
      await settle();
      assert.equal(await open(), '0');
    },

    'leaves its entry, where the order that shows is another one': async (subject) => {
      const { state, journal, request, show, outcome } = await startAbsent(subject);
      const { client_order_id: _, ...another } = newOrder({ ...terms, symbol: 'MSFT' });
      show(id, 'SUBMITTED', { ...another, place_time: startedAt + 10 });
      state.outcome = taken;
      const modify_orders = [{ client_order_id: id, quantity: '12' }];
      assert.equal(codeOf(await request(replaceOrder, { modify_orders })), 'sent');
      assert.equal(await outcome(), 'refused');
      const entry = (await journal.read([entryKey(id)])).get(entryKey(id))!;
      assert.equal(JSON.parse(entry.record).placed_elsewhere, undefined);
    },
  },

  'a counter': {
    'loses an order with an event of its end, but for one that says it failed': async (subject) => {
      const { state, settlement, place, show, open } = startDesk(subject);
      assert.equal(await place(), 'sent');
      for (const [status, left] of [
        ['SUBMITTED', '100'],
        ['PARTIAL_FILLED', '100'],
        ['FAILED', '100'],
        ['FILLED', '0'],
        ['FILLED', '0'],
      ] as const) {
        show(id, status, terms);
        await settlement.saw(state.shown.get(id)!);
        assert.equal(await open(), left, status);
      }
    },

    'has an order again whose answer comes when look-ups have given it up': async (subject) => {
      const { state, settle, place, show, outcome, open } = startDesk(subject);
      show('another-order', 'FILLED');
      // Its instance is suspended.
      state.whileSent = async () => {
        await settle(20);
        assert.deepEqual([await outcome(), await open()], ['refused', '0']);
      };
      assert.equal(await place(), 'sent');
      assert.deepEqual([await outcome(), await open()], ['accepted', '100']);
    },

    'that has less than its orders say is put right within the hour, and told of where it has more': async (
      subject,
    ) => {
      const { state, journal, settlement, place, open } = startDesk(subject);
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
    },
  },

  'an order with the id, and with other terms than were asked for': {
    ...Object.fromEntries(
      (
        [
          [
            'placed an hour before is another program’s: nothing was placed',
            ['SUBMITTED', -60 * minute],
            ['idempotency_conflict', 'refused'],
          ],
          // Its look-up comes when that is more than a minute ago.
          [
            'placed in the minute before may be either',
            ['SUBMITTED', -50_000],
            ['outcome_unknown', 'unknown'],
          ],
          ['placed since is this one, replaced', ['SUBMITTED', 500], ['sent', 'accepted']],
          ['placed since, and failed, is this one', ['FAILED', 500], ['sent', 'accepted']],
        ] as const
      ).flatMap(([what, [status, placedAt], [code, state]]) =>
        [lost, usedUp].map((answer) => [
          answer === lost ? what : `${what}, also where the upstream called the id used`,
          async (subject: Subject) => {
            const desk = startDesk(subject);
            desk.state.outcome = answer;
            desk.state.whileSent = async () => {
              desk.state.now += 15_000;
            };
            desk.show(id, status, { total_quantity: '3', place_time: startedAt + placedAt });
            assert.equal(await desk.place(), code);
            assert.equal(await desk.outcome(), state);
          },
        ]),
      ),
    ),

    'is this one, which was delivered twice, and which the user replaced while its outcome was unknown':
      async (subject) => {
        const { state, request, settle, place, show, outcome, open } = startDesk(subject);
        state.outcome = usedUp;
        assert.equal(await place(), 'outcome_unknown');
        state.outcome = taken;
        const modify_orders = [{ client_order_id: id, quantity: '12' }];
        assert.equal(codeOf(await request(replaceOrder, { modify_orders })), 'sent');
        show(id, 'SUBMITTED', { ...terms, total_quantity: '12', place_time: startedAt + 100 });
        await settle();
        assert.deepEqual([await outcome(), await open()], ['accepted', '120']);
      },

    'where the upstream does not say when it was placed, it stays unknown': async (subject) => {
      for (const answer of [lost, usedUp]) {
        const { state, settle, place, show, outcome, open } = startDesk(subject);
        state.outcome = answer;
        show(id, 'SUBMITTED', { total_quantity: '3' });
        assert.equal(await place(), 'outcome_unknown');
        await settle(30);
        assert.deepEqual([await outcome(), await open()], ['unknown', '100']);
      }
    },
  },

  'a part of a batch': {
    'that has an error and an id of the upstream is not called refused': async (subject) => {
      const { state, request, outcome } = startDesk(subject);
      const part = { client_order_id: id, order_id: '7', error_code: 'SOMETHING_ELSE' };
      state.outcome = answered({ batch_orders: [part] });
      const batch_orders = [newOrder({ client_order_id: id, ...terms })];
      assert.equal(codeOf(await request(batchPlaceOrders, { batch_orders })), 'outcome_unknown');
      assert.equal(await outcome(), 'unknown');
    },

    'that its entry does not place, or that two entries speak for, is not called accepted': async (
      subject,
    ) => {
      const [placed, failed] = [
        { client_order_id: id, order_id: '7' },
        { client_order_id: id, error_code: 'SOMETHING_ELSE', message: 'no' },
      ];
      for (const own of [
        [{ client_order_id: id, message: 'something went wrong' }],
        [placed, failed],
        [failed, placed],
        [{ order_id: '7' }],
        [{ ...placed, client_order_id: 'order-of-another' }],
      ]) {
        const { state, request, outcome, open } = startDesk(subject);
        const other = { client_order_id: 'order-2', order_id: '9' };
        state.outcome = answered({ total: own.length + 1, batch_orders: [...own, other] });
        const batch_orders = [id, 'order-2'].map((one) => newOrder({ client_order_id: one, ...terms }));
        assert.equal(codeOf(await request(batchPlaceOrders, { batch_orders })), 'outcome_unknown');
        assert.deepEqual(
          [await outcome(), await outcome('order-2'), await open()],
          ['unknown', 'accepted', '200'],
          JSON.stringify(own),
        );
      }
    },
  },

  'an answer': {
    'that names another order, or not each id that was asked, says nothing of this one': async (subject) => {
      for (const answer of [
        { client_order_id: 'order-of-another', order_id: '7' },
        { client_order_id: 'order-of-another' },
        { order_id: '7' },
        { client_order_id: id },
        { client_combo_order_id: 'another', combo_order_id: '8' },
      ]) {
        const { state, settle, place, show, outcome, open } = startDesk(subject);
        state.outcome = answered(answer);
        assert.equal(await place(), 'outcome_unknown', JSON.stringify(answer));
        assert.deepEqual([await outcome(), await open()], ['unknown', '100']);
        // Nothing of it was placed: another order shows that look-ups work.
        show('order-9', 'SUBMITTED', terms);
        await settle(25);
        assert.deepEqual([await outcome(), await open()], ['refused', '0'], JSON.stringify(answer));
      }
    },

    'to a combination names that of the client, or any where the client named none': async (subject) => {
      const new_orders = ['order-1', 'order-2'].map((client_order_id, index) =>
        newOrder({ client_order_id, ...terms, combo_type: index === 0 ? 'MASTER' : 'STOP_LOSS' }),
      );
      const mine = { client_combo_order_id: 'mine' };
      for (const [asked, answer, code] of [
        [mine, { ...mine, combo_order_id: '8' }, 'sent'],
        [mine, { ...mine, combo_order_id: '8', client_order_id: 'order-2', more: [7] }, 'sent'],
        [{}, { combo_order_id: '8' }, 'sent'],
        [{ client_combo_order_id: null }, { client_combo_order_id: 'any', combo_order_id: 8 }, 'sent'],
        [mine, { client_combo_order_id: 'another', combo_order_id: '8' }, 'outcome_unknown'],
        [mine, { combo_order_id: '8' }, 'outcome_unknown'],
        [mine, mine, 'outcome_unknown'],
        [{}, { client_order_id: 'order-1', order_id: '7' }, 'outcome_unknown'],
      ] as const) {
        const { state, request } = startDesk(subject);
        state.outcome = answered(answer);
        const told = codeOf(await request(placeOrder, { ...asked, new_orders }));
        assert.equal(told, code, JSON.stringify({ asked, answer }));
      }
    },

    'to a cancel or a replacement is about the order that was to be changed': async (subject) => {
      const named = { client_order_id: id, order_id: '7' };
      const another = { ...named, client_order_id: 'order-of-another' };
      const ofCombination = { client_combo_order_id: 'mine', combo_order_id: '8' };
      const cancel = [cancelOrder, { client_order_id: id }] as const;
      const replace = [replaceOrder, { modify_orders: [{ client_order_id: id, quantity: '9' }] }] as const;
      for (const [operation, body] of [cancel, replace])
        for (const [answer, code] of [
          [named, 'sent'],
          [ofCombination, 'sent'],
          [another, 'outcome_unknown'],
          [{ order_id: '9' }, 'outcome_unknown'],
        ] as const) {
          const { state, request, place } = startDesk(subject);
          assert.equal(await place(), 'sent');
          state.outcome = answered(answer);
          assert.equal(codeOf(await request(operation, body)), code, JSON.stringify([operation.id, answer]));
        }
      const { state, request } = startDesk(subject);
      state.outcome = answered({ ...ofCombination, client_combo_order_id: 'another' });
      const ofMine = { client_order_id: id, client_combo_order_id: 'mine' };
      assert.equal(codeOf(await request(cancelOrder, ofMine)), 'outcome_unknown');
    },
  },
};
