/** What is true of the hand-over behind the guard rails, for one request. */

import assert from 'node:assert/strict';
import { type Answer, refused } from '../../lib/answer.ts';
import { placeOrder, replaceOrder } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { restoredControl, restoredScope } from '../../lib/guard-rails/controls.ts';
import { readCounter } from '../../lib/guard-rails/counter.ts';
import type { GuardOptions } from '../../lib/guard-rails/guard.ts';
import { createMemoryControls, type MassCancel, type TradingLimits } from '../../lib/guard-rails/index.ts';
import { compareCounters } from '../../lib/orders/compare-counters.ts';
import type { KeptJournal } from '../../lib/orders/memory-journal.ts';
import { each } from '../support/each.ts';
import { answered, newOrder, takenAnswer } from '../support/orders.ts';
import type { ExposureSubject } from './exposure-world.ts';

const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const now = 1_800_000_000_000;
const entryKey = (id: string) => `entry|order|a|${id}`;

interface State {
  now: number;
  /** From whom requests come. */
  user: string | undefined;
  /** Requests to cancel what is open. */
  asked: MassCancel[];
  isAway: boolean;
  /** Until when each request was to leave. */
  sent: (number | undefined)[];
  lookUps: number;
  noted: number;
  /** Orders that another program placed, by id: JSON as the upstream shows it. */
  elsewhere: Readonly<Record<string, string>>;
  outcome: Answer;
  /** Happens once, between a request and its answer. */
  whileSent: () => Promise<unknown>;
}

/** Instances that share a journal, and what they send. */
export function createFloor(
  { createHandOver, createMemoryOrderJournal }: Omit<ExposureSubject, 'createSettlement'>,
  limits: TradingLimits,
  prices: Pick<GuardOptions, 'lastPrices' | 'optionPrices'> = {},
) {
  const kept: KeptJournal = { entries: new Map(), counters: new Map() };
  const journal = createMemoryOrderJournal(kept);
  const controls = createMemoryControls();
  controls.set('stack', { limits });
  const state: State = {
    now,
    user: undefined,
    asked: [],
    isAway: false,
    sent: [],
    lookUps: 0,
    noted: 0,
    elsewhere: {},
    outcome: taken,
    whileSent: async () => {},
  };
  const instances = [0, 1].map(() =>
    createHandOver({
      journal,
      names,
      clock: () => state.now,
      sleep: async (ms) => {
        state.now += ms;
      },
      guard: {
        ...prices,
        controls,
        journal,
        massCancels: {
          async request(one) {
            state.asked.push(one);
            if (state.isAway) throw new Error('away');
          },
        },
      },
      reportNoted: () => state.noted++,
    }),
  );
  const request = (operation: Operation, body: object, instance = 0, beside = {}): Promise<Answer> =>
    instances[instance]!.run(
      {
        operation,
        query: [],
        body: JSON.stringify({ account_id: 'a', ...body }),
        headers: {},
        credential: 'app',
        requestId: 'r',
        deadline: state.now + 29_000,
        ...(state.user !== undefined && { user: state.user }),
        ...beside,
      },
      {
        send: async (body, _, leaveBy) => {
          state.sent.push(leaveBy);
          const { outcome, whileSent } = state;
          state.whileSent = async () => {};
          await whileSent();
          return outcome === taken ? takenAnswer(body) : outcome;
        },
        lookUp: async (account, clientOrderId) => {
          state.lookUps++;
          const payload = state.elsewhere[clientOrderId];
          return payload === undefined
            ? undefined
            : { state: { account, clientOrderId, status: 'SUBMITTED', filled: '0', terms: '' }, payload };
        },
      },
    );
  return {
    state,
    controls,
    journal,
    kept,
    request,
    place: (id: string, terms: object, instance?: number, beside?: object) =>
      request(placeOrder, { new_orders: [newOrder({ client_order_id: id, ...terms })] }, instance, beside),
    replace: (...orders: readonly object[]) => request(replaceOrder, { modify_orders: orders }),
    replaceBy: (instance: number, ...orders: readonly object[]) =>
      request(replaceOrder, { modify_orders: orders }, instance),
  };
}

/** The upstream takes what is asked, and names it. */
const taken = answered('taken');
const priced = (quantity: string) => ({ order_type: 'LIMIT', limit_price: '1', quantity });
const codeOf = (answer: Answer) => (answer.kind === 'refused' ? answer.refusal.code : 'sent');

async function blockedIsKept(subject: ExposureSubject): Promise<void> {
  const { place, journal, state } = createFloor(subject, { max_order_quantity: '10' });
  assert.equal(codeOf(await place('blocked-order', priced('11'))), 'order_blocked');
  assert.deepEqual(state.sent, []);
  const entry = (await journal.read([entryKey('blocked-order')])).get(entryKey('blocked-order'));
  assert.equal(entry?.state, 'refused');
  const { failed_checks, outcome } = JSON.parse(entry.record);
  assert.deepEqual([failed_checks, outcome.code], [['max_order_quantity'], 'order_blocked']);
  assert.equal(codeOf(await place('blocked-order', priced('10'))), 'sent');
  assert.equal(codeOf(await place('blocked-order', priced('10'), 1)), 'sent');
  // Of both it is told until when they may leave, and the second one is a replay.
  assert.deepEqual(state.sent, [now + 5000]);
}

async function replayedWhileStopped(subject: ExposureSubject): Promise<void> {
  const { place, controls, state } = createFloor(subject, {});
  assert.equal(codeOf(await place('placed-before', priced('1'))), 'sent');
  controls.set('stack', { limits: {}, stopped: { at: 1 } });
  assert.equal(codeOf(await place('placed-before', priced('1'), 1)), 'sent');
  assert.equal(codeOf(await place('placed-after', priced('1'), 1)), 'order_blocked');
  assert.equal(state.sent.length, 1);
}

async function notedIsTold(subject: ExposureSubject): Promise<void> {
  const limits: TradingLimits = { max_order_quantity: '10', actions: { max_order_quantity: 'notify' } };
  const { place, journal, state } = createFloor(subject, limits);
  assert.equal(codeOf(await place('noted-order', priced('11'))), 'sent');
  assert.equal(state.noted, 1);
  const entry = (await journal.read([entryKey('noted-order')])).get(entryKey('noted-order'));
  assert.deepEqual(JSON.parse(entry!.record).failed_checks, ['max_order_quantity']);
}

/** Of whom, how often, and not for what was placed before. */
async function cancelsAreAsked(subject: ExposureSubject): Promise<void> {
  const { place, state, controls } = createFloor(subject, {});
  const blocked = async (id: string) => {
    const before = state.asked.length;
    const answer = await place(id, priced('11'));
    const detail = answer.kind === 'refused' ? answer.refusal.detail : undefined;
    return [state.asked.slice(before).map(({ scope }) => scope), /being cancelled/.test(detail ?? '')];
  };
  assert.equal(codeOf(await place('placed-before', priced('11'))), 'sent');
  const limitsOf = (action: 'block' | 'block_and_cancel') => ({
    limits: { max_order_quantity: '10', actions: { max_order_quantity: action } },
  });
  controls.set('stack', limitsOf('block'));
  state.now += 6000;
  assert.deepEqual(await blocked('only-blocked'), [[], false]);
  controls.set('stack', limitsOf('block_and_cancel'));
  state.now += 6000;
  assert.equal(codeOf(await place('placed-before', priced('11'))), 'sent');
  assert.equal(state.asked.length, 0);
  state.isAway = true;
  assert.deepEqual(await blocked('while-away'), [['account account|a'], false]);
  state.isAway = false;
  assert.deepEqual(await blocked('no-user-known'), [['account account|a'], true]);
  state.user = 'u';
  assert.deepEqual(await blocked('of-a-user'), [['user u'], true]);
  state.now += 9999;
  assert.deepEqual(await blocked('soon-after'), [[], true]);
  assert.ok(state.asked.at(-1)!.placedBefore > state.now);
  state.now += 1;
  assert.deepEqual(await blocked('long-after'), [['user u'], true]);
  controls.set('stack', { limits: {} });
  controls.set('account account|a', limitsOf('block_and_cancel'));
  state.now += 20_000;
  assert.deepEqual(await blocked('of-the-account'), [['account account|a'], true]);
}

/** Another instance has released what this one has counted. */
async function asksBeforeItRefuses(subject: ExposureSubject): Promise<void> {
  const { place, state } = createFloor(subject, { max_open_notional: '10' });
  state.outcome = refused({ code: 'upstream_rejected', upstream: { status: 417 } });
  assert.equal(codeOf(await place('refused-order', priced('10'))), 'upstream_rejected');
  state.outcome = taken;
  assert.equal(codeOf(await place('another-order', priced('10'))), 'sent');
  assert.equal(codeOf(await place('one-more-order', priced('1'), 1)), 'order_blocked');
}

/** An order that had no effect, sent again unchanged as its refusal says, is the first of its kind. */
async function repetitionIsItself(subject: ExposureSubject): Promise<void> {
  for (const scope of ['stack', 'account account|a', 'user u']) {
    const { place, state, controls } = createFloor(subject, {});
    controls.set(scope, { limits: { max_duplicative_orders: { orders: 1, seconds: 60 } } });
    state.user = 'u';
    for (const code of ['upstream_rate_limited', 'upstream_rejected', 'upstream_unreachable'] as const) {
      state.outcome = refused({ code });
      assert.equal(codeOf(await place('order-again', priced('1'))), code, scope);
    }
    state.outcome = taken;
    assert.equal(codeOf(await place('order-again', priced('1'))), 'sent', scope);
    assert.equal(codeOf(await place('another-order', priced('1'))), 'order_blocked', scope);
  }
}

async function allSaysOneThing(subject: ExposureSubject): Promise<void> {
  const { place } = createFloor(subject, { max_order_quantity: '10' });
  const others = [
    { headers: { category: 'US_OPTION' } },
    { query: [['category', 'US_OPTION']] },
    { path: '/openapi/trade/option/order/place' },
    { headers: { category: 'HK_EQUITY' } },
    { headers: { category: 'us_options' } },
    { headers: { category: 'US_BOND' }, query: [['category', 'US_OPTION']] },
    { headers: { category: 'US_BOND' } },
  ];
  for (const [index, beside] of others.entries())
    assert.equal(codeOf(await place(`order-${index}`, priced('1'), 0, beside)), 'order_blocked');
  const ofSides = createFloor(subject, { allowed_sides: ['BUY', 'SELL', 'SHORT'] });
  assert.equal(codeOf(await ofSides.place('order-of-a-side', priced('1'), 0, others[0])), 'order_blocked');
  for (const beside of others.slice(0, -1)) {
    const word = createFloor(subject, { max_order_quantity: '10', allow_unknown: ['category', 'contract'] });
    assert.equal(codeOf(await word.place('order-of-two', priced('1'), 0, beside)), 'order_blocked');
  }
  const noMarket = { ...priced('1'), market: undefined };
  assert.equal(codeOf(await ofSides.place('order-of-market', noMarket, 0, others[3])), 'order_blocked');
  const open = createFloor(subject, { max_order_quantity: '10', allow_unknown: ['category'] });
  const admitted = { headers: { category: 'US_BOND' } };
  assert.equal(codeOf(await open.place('order-of-a-word', priced('1'), 0, admitted)), 'sent');
  const larger = { ...priced('1'), quantity: '11' };
  assert.equal(codeOf(await open.place('larger-order', larger, 0, admitted)), 'order_blocked');
  const unseen = { ...priced('1'), quantity: `9${'0'.repeat(120)}` };
  assert.equal(codeOf(await open.place('unreadable-order', unseen, 0, admitted)), 'order_blocked');
  const counted = createFloor(subject, { max_open_notional: '10', allow_unknown: ['order'] });
  assert.equal(codeOf(await counted.place('order-in-money', priced('9'), 0, admitted)), 'sent');
  assert.equal(codeOf(await counted.place('order-above', priced('2'), 0, admitted)), 'order_blocked');
}

async function aFewAreLookedUp(subject: ExposureSubject): Promise<void> {
  const { replace, state } = createFloor(subject, { max_order_quantity: '10' });
  const orders = Array.from({ length: 20 }, (_, index) => ({
    client_order_id: `foreign-${index}`,
    limit_price: '1',
  }));
  assert.equal(codeOf(await replace(...orders)), 'order_blocked');
  assert.equal(state.lookUps, 7);
}

/** Orders that this journal does not have are counted by the replacement's own entry: all of them. */
async function foreignAreCounted(subject: ExposureSubject): Promise<void> {
  const { replace, journal } = createFloor(subject, {
    max_orders_per_minute: 5,
    max_open_notional: '100',
    actions: { max_open_notional: 'notify' },
  });
  await replace(
    { client_order_id: 'foreign-1', quantity: '1' },
    { client_order_id: 'foreign-2', quantity: '1' },
  );
  const [counter] = await journal.counters(['counter stack']);
  assert.equal(JSON.parse(counter!.state).recent.length, 2);
}

/** What had no effect counts for its user, and for nobody else. */
async function refusedAreNotCounted(subject: ExposureSubject): Promise<void> {
  const { place, journal, state, controls } = createFloor(subject, { max_orders_per_minute: 9 });
  controls.set('user u', { limits: { max_orders_per_minute: 9 } });
  state.user = 'u';
  await place('order-taken', { quantity: '1' });
  state.outcome = refused({ code: 'upstream_rejected', upstream: { status: 417 } });
  await place('order-refused', { quantity: '1' });
  state.outcome = refused({ code: 'outcome_unknown' });
  await place('order-unknown', { quantity: '1' });
  // The user is not to blame for these.
  for (const code of ['upstream_rate_limited', 'upstream_unreachable', 'budget_used_up'] as const) {
    state.outcome = refused({ code });
    await place(`order-${code}`, { quantity: '1' });
  }
  const counted = await journal.counters(['counter stack', 'counter user u']);
  const counts = counted.map(({ state }) =>
    (JSON.parse(state).recent as readonly number[][]).reduce((sum, [, , orders = 0]) => sum + orders, 0),
  );
  assert.deepEqual(counts, [2, 3]);
}

/** Each names one of price and quantity; together they make the order 100 times as large. */
async function twoOfElsewhere(
  { replaceBy, state }: ReturnType<typeof createFloor>,
  how: 'together' | 'in turn',
): Promise<readonly string[]> {
  state.elsewhere = { shared: JSON.stringify(newOrder({ client_order_id: 'shared', ...priced('1') })) };
  const first = () => replaceBy(0, { client_order_id: 'shared', quantity: '10' });
  const second = () => replaceBy(1, { client_order_id: 'shared', limit_price: '10' });
  const answers =
    how === 'together' ? await Promise.all([first(), second()]) : [await first(), await second()];
  return answers.map(codeOf).sort();
}

/** Another program placed it: its first replacement makes an entry, by which the second one knows of the first. */
async function elsewhereDoesNotMix(subject: ExposureSubject): Promise<void> {
  for (const limits of [{ max_open_notional: '99' }, { max_order_notional: '99' }])
    for (const how of ['in turn', 'together'] as const) {
      const floor = createFloor(subject, limits);
      assert.deepEqual(await twoOfElsewhere(floor, how), ['order_blocked', 'sent']);
    }
  const floor = createFloor(subject, { max_open_notional: '100' });
  assert.deepEqual(await twoOfElsewhere(floor, 'in turn'), ['sent', 'sent']);
  const { journal, place, state } = floor;
  assert.equal(state.lookUps, 2);
  const [counter] = await journal.counters(['counter stack']);
  assert.equal(JSON.parse(counter!.state).open, '100');
  const exposed = await journal.exposed('', 10);
  assert.deepEqual(each(exposed, 'key', 'state', 'expiresAt'), [[entryKey('shared'), 'accepted', undefined]]);
  assert.equal(JSON.parse(exposed[0]!.record).placed_elsewhere, true);
  // No request placed it, so none is its repetition.
  assert.equal(codeOf(await place('shared', priced('1'))), 'idempotency_conflict');
}

async function refusedIsNotReplaced(subject: ExposureSubject): Promise<void> {
  const { place, replace, state } = createFloor(subject, { max_order_quantity: '10' });
  assert.equal(codeOf(await place('refused-order', priced('11'))), 'order_blocked');
  // Another program may have an order of that id.
  assert.equal(
    codeOf(await replace({ client_order_id: 'refused-order', limit_price: '1' })),
    'order_blocked',
  );
  assert.equal(state.lookUps, 1);
}

/** The order is refused after a replacement has made it larger. */
async function replacedIsReleased(subject: ExposureSubject): Promise<void> {
  const { place, replace, journal, state } = createFloor(subject, { max_open_notional: '100' });
  state.outcome = refused({ code: 'upstream_rejected', upstream: { status: 417 } });
  state.whileSent = () => replace({ client_order_id: 'refused-order', quantity: '50' });
  assert.equal(codeOf(await place('refused-order', priced('10'))), 'upstream_rejected');
  const [counter] = await journal.counters(['counter stack']);
  assert.equal(JSON.parse(counter!.state).open, '0');
  assert.deepEqual(await journal.exposed('', 10), []);
}

/**
 * Counters are put back in place, and the instances go on: the revisions come again, with other states. What was sent since
 * is written again, as the reconciliation does while orders are closed.
 */
async function restoredCountersAreReadAnew(subject: ExposureSubject): Promise<void> {
  for (const minutesWithOrders of [0, 10]) {
    const { place, journal, kept, controls, state } = createFloor(subject, { max_open_notional: '100' });
    const open = async () => readCounter((await journal.counters(['counter stack']))[0]!).open;
    await place('before-restore', priced('1'));
    const copy = [...kept.counters];
    await place('of-the-first', priced('1'));
    for (let index = 0; index < 9; index++) await place(`of-the-second-${index}`, priced('1'), 1);
    assert.equal(await open(), '11');
    for (const [key, counter] of copy) kept.counters.set(key, counter);
    assert.equal((await compareCounters(journal))?.raised, 1);
    controls.set(restoredScope, restoredControl);
    for (let minutes = 0; minutes < 11; minutes++) {
      state.now += 60_000;
      if (minutes < minutesWithOrders)
        for (const instance of [0, 1])
          assert.equal(codeOf(await place(`closed-${minutes}`, priced('1'), instance)), 'orders_closed');
    }
    controls.set(restoredScope, { limits: {} });
    state.now += 60_000;
    assert.equal(codeOf(await place('after-restore', priced('1'))), 'sent');
    assert.equal(await open(), '12');
    assert.equal(codeOf(await place('after-restore-2', priced('1'), 1)), 'sent');
    assert.equal(await open(), '13');
  }
}

export const handOverRules: readonly ((subject: ExposureSubject) => Promise<void>)[] = [
  blockedIsKept,
  replayedWhileStopped,
  notedIsTold,
  cancelsAreAsked,
  asksBeforeItRefuses,
  allSaysOneThing,
  aFewAreLookedUp,
  foreignAreCounted,
  refusedAreNotCounted,
  repetitionIsItself,
  elsewhereDoesNotMix,
  refusedIsNotReplaced,
  replacedIsReleased,
  restoredCountersAreReadAnew,
];
