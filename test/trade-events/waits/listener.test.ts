/** The listener, one rule after the other, beside a model of the upstream on a virtual clock. */

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'vitest';
import type { LeaseState } from '../../../lib/trade-events/index.ts';
import { each } from '../../support/each.ts';
import { checkBus, checkReports } from '../world/checks.ts';
import { useSynchronousCrypto } from '../world/synchronous-crypto.ts';
import { canaries, World } from '../world/world.ts';

beforeEach(useSynchronousCrypto);

const second = 1_000;
const minute = 60_000;
const hour = 60 * minute;
const { account } = canaries;

/** A world whose first listener has its stream. */
async function subscribed(options: ConstructorParameters<typeof World>[0] = {}): Promise<World> {
  const world = new World(options);
  world.schedule();
  await world.pass(5 * second);
  assert.equal(world.upstream.open, 1);
  return world;
}

function placed(world: World, id = 'CID-1') {
  world.upstream.place(account, id, 10);
  return world.upstream.orders.get(`${account} ${id}`)!;
}

const statesOf = (world: World) =>
  world
    .distinct()
    .flatMap(({ detailType, detail }) =>
      detailType === 'OrderChanged'
        ? `${detail.scene} ${detail.status} ${detail.filled_quantity} ${detail.reconciled ? 'reconciled' : 'streamed'}`
        : detailType,
    );

const endsOf = (world: World) => world.reportsOf('ended').map(({ reason }) => reason);
const attemptsSince = ({ upstream }: World, time: number) => upstream.attempts.filter((at) => at >= time);

describe('what the stream delivers', () => {
  test('is published once, in its order', async () => {
    const world = await subscribed();
    const order = placed(world);
    world.upstream.fill(order, 3);
    world.upstream.refuse(order, 'CANCEL_FAILED');
    world.upstream.modify(order, 101);
    world.upstream.fill(order, 7);
    await world.pass(20 * minute);
    assert.deepEqual(statesOf(world), [
      'FILLED SUBMITTED 3.00 streamed',
      'CANCEL_FAILED SUBMITTED 3.00 streamed',
      'MODIFY_SUCCESS SUBMITTED 3.00 streamed',
      'FINAL_FILLED FILLED 10.00 streamed',
    ]);
    assert.deepEqual(checkBus(world), { changes: 4, distinct: 4, reconciled: 0, repeated: 0, invisible: 0 });
  });

  test('is on the bus at once, byte for byte', async () => {
    const world = await subscribed();
    const payload = `{"account_id": "${account}","client_order_id":"CID-9", "order_status":"SUBMITTED","scene_type":"FILLED","filled_qty":3.10,"new":{"a":[1.0]}}`;
    world.upstream.send({ eventType: 1024, payload, requestId: 'r', timestamp: world.time.now() });
    await world.pass(100);
    const [event] = world.bus;
    assert.ok(event?.detail.endsWith(`,"order":${payload}}`), event?.detail);
    const [parsed] = world.distinct();
    assert.ok(parsed?.detailType === 'OrderChanged');
    const { occurred_at: at = '', filled_quantity: filled } = parsed.detail;
    assert.deepEqual([filled, Date.parse(at)], ['3.10', world.time.now() - 100]);
    const [published] = world.reportsOf('published');
    assert.deepEqual(published?.delaysMs.length, 1);
    assert.ok(published!.delaysMs[0]! <= 100, `${published?.delaysMs}`);
  });

  test('passes when its kind is unknown or its payload is malformed, and ends nothing', async () => {
    const world = await subscribed();
    const { upstream } = world;
    const settled = '{"event_name":"E","settle_amount":1.10}';
    upstream.send({ eventType: 1028, payload: settled, requestId: 'p1' });
    upstream.send({ eventType: 1028, payload: settled, requestId: 'p1' });
    upstream.send({ eventType: 1032, payload: '{"a":1.10}', requestId: 'o1' });
    upstream.send({ eventType: 4711, payload: 'text', requestId: 'x1' });
    upstream.send({ eventType: 1024, payload: '{"cut', requestId: 'm1' });
    upstream.send({ eventType: 1024, payload: '{"account_id":"ACCT-CANARY-1"}', requestId: 'm2' });
    upstream.send(Uint8Array.of(0x22, 0x7f));
    await world.pass(second);
    const details = world.distinct().map(({ detailType, detail }) => [detailType, { ...detail }] as const);
    assert.deepEqual(
      details.map(([type, detail]) => [
        type,
        'event_type' in detail ? detail.event_type : undefined,
        'payload' in detail ? detail.payload : 'position' in detail ? detail.position : undefined,
      ]),
      [
        ['PositionChanged', undefined, { event_name: 'E', settle_amount: 1.1 }],
        ['TradeEventReceived', 1032, { a: 1.1 }],
        ['TradeEventReceived', 4711, 'text'],
        ['TradeEventReceived', 1024, '{"cut'],
        ['TradeEventReceived', 1024, { account_id: account }],
      ],
    );
    assert.ok(world.bus[0]?.detail.endsWith(`,"position":${settled}}`));
    assert.equal(world.reportsOf('failed').filter(({ step }) => step === 'parse').length, 3);
    assert.equal(upstream.open, 1);
    checkReports(world);
  });

  test('stays in the outbox until the bus takes it, and holds up nothing else', async () => {
    const world = await subscribed();
    let refusals = 0;
    world.busRefuses = () => refusals++ % 3 !== 2;
    for (let count = 0; count < 25; count++) world.upstream.fill(placed(world, `CID-${count}`), 1);
    await world.pass(5 * minute);
    assert.equal(world.distinct().length, 25);
    assert.ok(refusals > 50);
    // Nothing is left to try again.
    const before = refusals;
    await world.pass(5 * minute);
    assert.equal(refusals, before);
    checkBus(world);
  });

  test('is left out where it is larger than the bus takes', async () => {
    const world = await subscribed();
    const large = 'é'.repeat(150_000);
    const payload = `{"account_id":"${account}","client_order_id":"CID-9","order_status":"FILLED","filled_qty":"3","scene_type":"FINAL_FILLED","new":"${large}"}`;
    world.upstream.send({ eventType: 1024, payload, requestId: 'r' });
    world.upstream.send({ eventType: 4711, payload: large, requestId: 's' });
    await world.pass(second);
    assert.deepEqual(
      world.bus.map(({ detail }) => detail.length < 1_000 && detail.includes('"too_large":true')),
      [true, true],
    );
    assert.deepEqual(each(world.distinct(), 'detailType'), ['OrderChanged', 'TradeEventReceived']);
  });

  test('that no bus ever takes holds up nothing, however many they are', async () => {
    const world = await subscribed({ shiftMs: hour });
    world.busRefuses = ({ detail }) => detail.includes('CID-BAD');
    for (let count = 0; count < 150; count++) world.upstream.fill(placed(world, `CID-BAD-${count}`), 1);
    await world.pass(second);
    world.upstream.fill(placed(world, 'CID-1'), 1);
    await world.pass(minute);
    assert.equal(world.distinct().length, 1);
  });

  test('that no bus ever takes holds up nothing, and is no storm', async () => {
    const world = await subscribed({ shiftMs: hour });
    let calls = 0;
    world.busRefuses = ({ detail }) => ++calls > 0 && detail.includes('CID-BAD');
    for (let count = 0; count < 24; count++)
      world.upstream.fill(placed(world, `${count < 12 ? 'CID-BAD' : 'CID'}-${count}`), 1);
    await world.pass(second);
    assert.equal(world.distinct().length, 12);
    calls = 0;
    await world.pass(10 * minute);
    assert.ok(calls >= 12 * 10 && calls <= 12 * 60, `${calls} entries tried`);
  });
});

describe('what the stream does not tell', () => {
  test('is found after a gap, under the ids that the stream’s repetitions have', async () => {
    const world = await subscribed();
    const [filled, cancelled, replaced] = ['CID-1', 'CID-2', 'CID-3'].map((id) => placed(world, id));
    world.upstream.place(canaries.other, 'CID-4', 10);
    await world.pass(2 * minute);
    world.upstream.answer = 'unavailable';
    world.upstream.bring('drop');
    world.upstream.fill(filled!, 10);
    world.upstream.cancel(cancelled!);
    world.upstream.modify(replaced!, 120);
    world.upstream.fill(placed(world, 'CID-5'), 4);
    await world.pass(10 * second);
    world.upstream.answer = 'subscribed';
    world.upstream.repeat = 9;
    await world.pass(3 * minute);
    assert.equal(world.upstream.repeat, 0);
    assert.deepEqual(
      statesOf(world)
        .map((state) => state.split(' ')[0])
        .sort(),
      ['CANCEL_SUCCESS', 'FILLED', 'FINAL_FILLED', 'MODIFY_SUCCESS'],
    );
    checkBus(world);
  });

  test('a replacement that a read has found is not told again by a late message', async () => {
    const world = await subscribed();
    const order = placed(world);
    await world.pass(2 * minute);
    world.upstream.bring('drop');
    world.upstream.modify(order, 120);
    await world.pass(2 * minute);
    assert.deepEqual(statesOf(world), ['MODIFY_SUCCESS SUBMITTED 0.000 reconciled']);
    world.upstream.repeat = 1;
    world.upstream.bring('expire');
    await world.pass(2 * minute);
    assert.equal(world.upstream.repeat, 0);
    world.upstream.modify(order, 100);
    await world.pass(10 * minute);
    assert.deepEqual(statesOf(world).slice(1), ['MODIFY_SUCCESS SUBMITTED 0.00 streamed']);
    world.upstream.bring('drop');
    world.upstream.modify(order, 120);
    await world.pass(10 * minute);
    assert.equal(statesOf(world).length, 3);
    checkBus(world);
  });

  test('nor when the listener’s clock is off by minutes', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const world = new World({ seed, clockOffMs: 4 * minute, shiftMs: hour });
      world.start();
      await world.pass(5 * second);
      const order = placed(world);
      await world.pass(2 * minute);
      world.upstream.bring('drop');
      world.upstream.modify(order, 120);
      await world.pass(2 * minute);
      world.upstream.repeat = 1;
      world.upstream.bring('expire');
      await world.pass(5 * second);
      world.upstream.modify(order, 130);
      await world.pass(10 * minute);
      assert.deepEqual(
        statesOf(world),
        ['MODIFY_SUCCESS SUBMITTED 0.000 reconciled', 'MODIFY_SUCCESS SUBMITTED 0.00 streamed'],
        `off by ${world.instances[0]?.offsetMs}`,
      );
    }
  });

  test('a replacement that a read has found is told again, not lost, by a message that has a later date', async () => {
    const world = await subscribed();
    const order = placed(world);
    await world.pass(2 * minute);
    world.upstream.bring('drop');
    world.upstream.modify(order, 120);
    await world.pass(2 * minute);
    // The same change or another one: without prices, the message does not tell.
    const payload = `{"account_id":"${account}","client_order_id":"CID-1","order_status":"SUBMITTED","scene_type":"MODIFY_SUCCESS","qty":"10.00","filled_qty":"0.00"}`;
    for (const requestId of ['late', 'late'])
      world.upstream.send({ eventType: 1024, payload, requestId, timestamp: world.time.now() });
    await world.pass(10 * minute);
    assert.deepEqual(statesOf(world), [
      'MODIFY_SUCCESS SUBMITTED 0.000 reconciled',
      'MODIFY_SUCCESS SUBMITTED 0.00 streamed',
    ]);
  });

  test('an order that is older than the listener, or merely there, is no event', async () => {
    const world = new World();
    const before = placed(world, 'CID-1');
    world.upstream.fill(before, 3);
    world.upstream.cancel(placed(world, 'CID-2'));
    await world.pass(hour);
    world.upstream.changes.length = 0;
    world.schedule();
    await world.pass(minute);
    placed(world, 'CID-3');
    await world.pass(20 * minute);
    assert.deepEqual(statesOf(world), []);
    world.upstream.bring('drop');
    world.upstream.fill(before, 2);
    await world.pass(2 * minute);
    assert.deepEqual(statesOf(world), ['FILLED PARTIAL_FILLED 5.000 reconciled']);
  });

  test('a stream that is healthy and mute is noticed, and replaced', async () => {
    const world = await subscribed({ shiftMs: 60 * minute });
    const order = placed(world);
    await world.pass(10 * minute);
    world.upstream.bring('mute');
    const mutedAt = world.time.now();
    world.upstream.fill(order, 3);
    await world.pass(5 * minute + 11 * second);
    assert.deepEqual(endsOf(world), ['mute']);
    assert.deepEqual(world.reportsOf('compared').filter(({ mute }) => mute).length, 1);
    assert.deepEqual(statesOf(world), ['FILLED PARTIAL_FILLED 3.000 reconciled']);
    assert.equal(attemptsSince(world, mutedAt).length, 1);
    world.upstream.fill(order, 3);
    await world.pass(second);
    assert.equal(statesOf(world)[1], 'FILLED SUBMITTED 6.00 streamed');
  });

  test('a change of the gap that a list shows late is none of the stream’s faults', async () => {
    const world = await subscribed({ shiftMs: hour });
    world.upstream.lagMs = 20 * second;
    const order = placed(world);
    await world.pass(7 * minute);
    world.upstream.bring('drop');
    world.upstream.cancel(order);
    await world.pass(20 * minute);
    assert.deepEqual(statesOf(world), ['CANCEL_SUCCESS CANCELLED 0.000 reconciled']);
    assert.deepEqual(endsOf(world), ['broken']);
  });

  test('a stream that is only slow is not mute', async () => {
    const world = await subscribed({ shiftMs: 60 * minute });
    world.upstream.delayMs = 8 * second;
    for (let count = 0; count < 120; count++) {
      world.upstream.fill(placed(world, `CID-${count}`), 3);
      await world.pass(10 * second);
    }
    assert.deepEqual(endsOf(world), []);
    // The first two comparisons are about the gap before the stream.
    assert.deepEqual(
      world
        .reportsOf('compared')
        .slice(2)
        .filter(({ reconciled }) => reconciled > 0),
      [],
    );
    assert.ok(world.distinct().length >= 119);
  });

  test('a comparison whose reads fail says nothing, and is made again', async () => {
    const world = await subscribed();
    placed(world);
    await world.pass(minute);
    world.upstream.bring('drop');
    world.upstream.cancel(world.upstream.orders.get(`${account} CID-1`)!);
    let faults = 0;
    world.upstream.readFault = () => ++faults < 6;
    await world.pass(5 * minute);
    assert.deepEqual(statesOf(world), ['CANCEL_SUCCESS CANCELLED 0.000 reconciled']);
    assert.ok(world.reportsOf('failed').some(({ step }) => step === 'compare'));
  });

  test('replacements that are on their way come before a read that shows the last of them', async () => {
    const world = await subscribed({ shiftMs: hour });
    const order = placed(world);
    await world.pass(2 * minute);
    Object.assign(world.upstream, { lagMs: 0, delayMs: 3 * second });
    world.upstream.bring('drop');
    await world.pass(3.2 * second);
    world.upstream.modify(order, 101);
    world.upstream.modify(order, 102);
    await world.pass(2 * minute);
    assert.deepEqual(statesOf(world), [
      'MODIFY_SUCCESS SUBMITTED 0.00 streamed',
      'MODIFY_SUCCESS SUBMITTED 0.00 streamed',
    ]);
  });

  test('a replacement that is read before its message comes is that message’s event alone', async () => {
    const world = new World({ shiftMs: hour });
    const reader = world.upstream.reader();
    let onLookUp = () => {};
    world.upstream.reader = () => ({
      ...reader,
      async order(...which) {
        onLookUp();
        return reader.order(...which);
      },
    });
    world.upstream.delayMs = 300;
    world.schedule();
    await world.pass(5 * second);
    const order = placed(world);
    await world.pass(2 * minute);
    world.upstream.bring('drop');
    world.upstream.modify(order, 101);
    onLookUp = () => {
      onLookUp = () => {};
      world.upstream.modify(order, 102);
    };
    await world.pass(10 * minute);
    assert.deepEqual(statesOf(world), ['MODIFY_SUCCESS SUBMITTED 0.00 streamed']);
    checkBus(world);
  });

  test('what a failed comparison did not see is seen by the next, however late, and by another listener', async () => {
    const world = await subscribed();
    await world.pass(2 * minute);
    world.upstream.bring('drop');
    world.upstream.fill(placed(world), 10);
    world.upstream.readFault = () => true;
    await world.pass(9 * minute);
    world.kill(world.listening[0]!);
    await world.pass(5 * minute);
    assert.deepEqual(statesOf(world), []);
    world.upstream.readFault = undefined;
    await world.pass(3 * minute);
    assert.deepEqual(statesOf(world), ['FINAL_FILLED FILLED 10.000 reconciled']);
  });

  test('an order that the lists do not show is looked up, and “not found” says nothing', async () => {
    const world = await subscribed();
    const order = placed(world);
    await world.pass(2 * minute);
    world.upstream.orders.delete(`${account} CID-1`);
    await world.pass(10 * minute);
    assert.deepEqual(statesOf(world), []);
    world.upstream.orders.set(`${account} CID-1`, order);
    await world.pass(40 * minute);
    world.upstream.bring('drop');
    world.upstream.cancel(order);
    await world.pass(2 * minute);
    assert.deepEqual(statesOf(world), ['CANCEL_SUCCESS CANCELLED 0.000 reconciled']);
  });
});

describe('an open order of an account that the app key does not reach any more', () => {
  const { other } = canaries;
  /** Another app key is in use, which has one account of the two. */
  const moved = async () => {
    const world = await subscribed({ shiftMs: hour });
    world.upstream.place(other, 'CID-OTHER', 10);
    const order = placed(world);
    await world.pass(10 * minute);
    world.upstream.accountIds = [account];
    world.credential = { ...world.credential, appKey: 'key-2' };
    await world.pass(10 * minute);
    world.reports.length = 0;
    return { world, order, theirs: world.upstream.orders.get(`${other} CID-OTHER`)! };
  };

  test('stops no comparison of the others: a mute stream is ended, and what it did not tell comes', async () => {
    const { world, order } = await moved();
    world.upstream.bring('mute');
    // A list shows new terms, of which a look-up decides.
    world.upstream.modify(order, 101);
    await world.pass(15 * minute);
    assert.deepEqual(world.reportsOf('failed'), []);
    assert.ok(world.reportsOf('compared').length >= 3);
    assert.deepEqual(endsOf(world), ['mute']);
    assert.deepEqual(statesOf(world), ['MODIFY_SUCCESS SUBMITTED 0.000 reconciled']);
  });

  test('is compared when its account is back, also if it is over since', async () => {
    const { world, theirs } = await moved();
    world.upstream.fill(theirs, 10);
    await world.pass(26 * hour);
    assert.deepEqual(statesOf(world), []);
    world.upstream.accountIds = [account, other];
    await world.pass(2 * hour);
    assert.deepEqual(statesOf(world), ['FINAL_FILLED FILLED 10.000 reconciled']);
    checkBus(world);
  });

  test('is told when its account is back, also if it was placed and filled meanwhile', async () => {
    const { world } = await moved();
    world.upstream.place(other, 'CID-MEANWHILE', 10);
    world.upstream.fill(world.upstream.orders.get(`${other} CID-MEANWHILE`)!, 10);
    await world.pass(2 * hour);
    assert.deepEqual(statesOf(world), []);
    world.upstream.accountIds = [account, other];
    await world.pass(2 * hour);
    assert.deepEqual(statesOf(world), ['FINAL_FILLED FILLED 10.000 reconciled']);
    checkBus(world);
  });
});

describe('an account whose orders the upstream refuses to show', () => {
  const { other } = canaries;
  /** Both accounts have an open order. */
  const withTwo = async () => {
    const world = await subscribed({ shiftMs: hour });
    world.upstream.place(other, 'CID-OTHER', 10);
    const order = placed(world);
    await world.pass(10 * minute);
    return { world, order, theirs: world.upstream.orders.get(`${other} CID-OTHER`)! };
  };

  test.each([
    ['all of them', () => true],
    ['the history alone', (read: string) => read === 'ordersSince'],
    ['look-ups alone', (read: string) => read === 'order'],
  ] as const)('(%s) stops no comparison of the others, and is reported', async (_, isRefused) => {
    const { world, order, theirs } = await withTwo();
    world.upstream.refuses = (id, read) => id === other && isRefused(read);
    // Only a look-up tells its terms.
    world.upstream.modify(theirs, 101);
    await world.pass(2 * second);
    world.upstream.bring('mute');
    world.upstream.fill(order, 3);
    await world.pass(15 * minute);
    assert.deepEqual(endsOf(world), ['mute']);
    assert.deepEqual(statesOf(world), [
      'MODIFY_SUCCESS SUBMITTED 0.00 streamed',
      'FILLED PARTIAL_FILLED 3.000 reconciled',
    ]);
    const failed = world.reportsOf('failed');
    assert.ok(failed.length > 0 && failed.every(({ step }) => step === 'compare'), `${failed.length}`);
    checkReports(world);
  });

  test('is asked again soon, because it may be a passing fault, and ever more seldom', async () => {
    const { world } = await withTwo();
    const askedAt: number[] = [];
    world.upstream.refuses = (id, read) =>
      id === other && read === 'openOrders' && askedAt.push(world.time.now()) > 0;
    await world.pass(40 * minute);
    const pauses = askedAt.slice(1).map((at, index) => at - askedAt[index]!);
    assert.ok(pauses[0]! < 15 * second, `${pauses}`);
    assert.ok(pauses.at(-1)! > 4 * minute && pauses.length < 20, `${pauses}`);
  });

  test('is left as it was, and what changed meanwhile comes later, as no fault of the stream', async () => {
    const { world, theirs } = await withTwo();
    const refused = new Set<string>();
    world.upstream.refuses = (id, read) => id === other && refused.add(read).size > 0;
    world.upstream.answer = 'unavailable';
    world.upstream.bring('drop');
    world.upstream.fill(theirs, 10);
    world.upstream.place(other, 'CID-MEANWHILE', 10);
    world.upstream.fill(world.upstream.orders.get(`${other} CID-MEANWHILE`)!, 10);
    await world.pass(10 * second);
    world.upstream.answer = 'subscribed';
    await world.pass(20 * minute);
    assert.deepEqual(statesOf(world), []);
    assert.deepEqual([...refused], ['openOrders'], 'nothing else is asked of it');
    world.upstream.refuses = undefined;
    await world.pass(6 * minute);
    const filled = 'FINAL_FILLED FILLED 10.000 reconciled';
    assert.deepEqual(statesOf(world), [filled, filled]);
    assert.ok(!endsOf(world).includes('mute'), `${endsOf(world)}`);
    checkBus(world);
  });
});

describe('the time up to which an account is compared', () => {
  /** What the store is given to keep of the lease, as a test changes it. */
  const stateKept = (world: World, change: (state: LeaseState) => LeaseState) => {
    const store = world.store as { -readonly [K in keyof typeof world.store]: (typeof world.store)[K] };
    const { renew, release } = world.store;
    store.renew = (lease, owner, state) => renew(lease, owner, change(state));
    store.release = (lease, owner, state) => release(lease, owner, change(state));
    return () => Object.assign(store, { renew, release });
  };

  test('is kept under a name that does not show the account', async () => {
    const world = new World();
    let kept = '';
    stateKept(world, (state) => {
      kept = JSON.stringify(state);
      return state;
    });
    world.schedule();
    await world.pass(minute);
    const { comparedByAccount = {} } = JSON.parse(kept) as LeaseState;
    assert.equal(Object.keys(comparedByAccount).length, 2);
    assert.ok(!kept.includes(account) && !kept.includes(canaries.other), kept);
  });

  test('is the one of all accounts where an earlier version has kept only that', async () => {
    const world = new World({ shiftMs: hour });
    const upgrade = stateKept(world, ({ comparedByAccount: _, ...state }) => state);
    world.schedule();
    await world.pass(10 * minute);
    for (const instance of world.listening) world.kill(instance);
    world.isScheduled = false;
    world.upstream.fill(placed(world), 10);
    await world.pass(10 * minute);
    upgrade();
    world.isScheduled = true;
    await world.pass(3 * minute);
    assert.deepEqual(statesOf(world), ['FINAL_FILLED FILLED 10.000 reconciled']);
  });
});

describe('streams', () => {
  test('hand over within a second, and there is never a second one', async () => {
    const world = await subscribed();
    await world.pass(2 * hour);
    const gaps = world.reportsOf('subscribed').flatMap(({ gapMs = [] }) => gapMs);
    const handOvers = endsOf(world);
    assert.ok(handOvers.length >= 8 && handOvers.every((reason) => reason === 'handed_over'), `${handOvers}`);
    const closedMs = world.upstream.closedForMs;
    assert.ok(Math.max(...closedMs) <= second, `closed for ${closedMs}`);
    assert.ok(gaps.length >= 8);
    assert.equal(Math.max(...world.upstream.openCounts), 1);
    const { length: started } = world.instances;
    assert.ok(world.instances.filter(({ result }) => result === 'not_needed').length >= started - 20);
  });

  test('hand over within a second, however slow the limiter, the bus and a burst of changes are', async () => {
    const world = await subscribed();
    Object.assign(world, { storeMs: 10, busMs: 3 * second });
    Object.assign(world.upstream, { openMs: 200, readMs: 4 * second });
    for (let minutes = 0; minutes < 30; minutes++) {
      for (let count = 0; count < 20; count++)
        world.upstream.fill(placed(world, `CID-${minutes}-${count}`), 10);
      await world.pass(minute);
    }
    await world.pass(20 * minute);
    const closedMs = world.upstream.closedForMs;
    assert.ok(closedMs.length >= 3 && Math.max(...closedMs) <= second, `closed for ${closedMs}`);
    assert.equal(Math.max(...world.upstream.openCounts), 1);
    assert.equal(world.distinct().length, 30 * 20);
    assert.ok(endsOf(world).every((reason) => reason === 'handed_over'));
    checkBus(world);
  });

  test('a process that knows the accounts subscribes while no read of them gets through', async () => {
    const world = new World();
    const first = world.start();
    await world.pass(5 * second);
    first.stop.abort();
    await world.pass(5 * second);
    world.upstream.readFault = () => true;
    world.start(first);
    await world.pass(second);
    assert.equal(world.upstream.open, 1);
    world.credential = { ...world.credential, appKey: 'key-2' };
    await world.pass(6 * minute);
    world.start(first);
    await world.pass(minute);
    assert.equal(world.upstream.open, 0, 'those of another key are unknown');
  });

  test('a start that is not needed ends when it has seen the lease renewed', async () => {
    const world = await subscribed();
    const other = world.start();
    await world.pass(3.5 * second);
    assert.equal(other.result, 'not_needed');
    assert.ok(other.calls <= 12, `${other.calls} calls`);
  });

  test('a listener that dies is followed within 75 s, however slow the reads are', async () => {
    const world = await subscribed();
    await world.pass(30 * second);
    world.upstream.readMs = 4 * second;
    world.kill(world.instances[0]!);
    const diedAt = world.time.now();
    await world.pass(75 * second);
    assert.equal(world.upstream.open, 1);
    assert.equal(attemptsSince(world, diedAt).length, 1);
    // The next start came after 25 seconds, and waited for a lease.
    assert.deepEqual(
      world.upstream.closedForMs.map((ms) => Math.round(ms / second)),
      [37],
    );
  });

  test('a frozen listener does nothing beside its successor when it wakes', async () => {
    const world = await subscribed();
    const [first] = world.instances;
    first!.frozenUntil = world.time.now() + 3 * minute;
    await world.pass(2 * minute);
    world.upstream.fill(placed(world), 3);
    await world.pass(4 * minute);
    assert.equal(first?.result, 'lease_lost');
    assert.equal(world.upstream.open, 1);
    assert.equal(world.distinct().length, 1);
    checkBus(world);
  });

  test('what a listener had read before it froze is not written when it wakes', async () => {
    const world = await subscribed({ shiftMs: hour });
    const order = placed(world);
    await world.pass(2 * minute);
    world.upstream.readMs = 5 * second;
    world.upstream.bring('drop');
    world.upstream.modify(order, 101);
    // Four pages, the time for what is on its way, and the half of a look-up.
    await world.pass(33 * second);
    world.instances[0]!.frozenUntil = world.time.now() + 4 * minute;
    await world.pass(2 * minute);
    world.upstream.modify(order, 102);
    await world.pass(5 * minute);
    assert.deepEqual(statesOf(world), [
      'MODIFY_SUCCESS SUBMITTED 0.000 reconciled',
      'MODIFY_SUCCESS SUBMITTED 0.00 streamed',
    ]);
  });

  test('a listener that froze before it had a stream opens none when it wakes', async () => {
    const world = new World();
    const first = world.start();
    await world.pass(50);
    first.frozenUntil = world.time.now() + 90 * second;
    await world.pass(minute);
    world.start();
    await world.pass(5 * minute);
    assert.equal(first.result, 'lease_lost');
    assert.deepEqual([world.upstream.attempts.length, world.upstream.open], [1, 1]);
  });

  test('silence ends a stream, and an expired one is followed at once', async () => {
    const world = await subscribed({ shiftMs: hour });
    await world.pass(2 * minute);
    world.upstream.bring('silence');
    await world.pass(2 * minute);
    assert.deepEqual(endsOf(world), ['silent']);
    assert.equal(world.upstream.open, 1);
    await world.pass(2 * minute);
    world.upstream.bring('expire');
    await world.pass(200);
    assert.deepEqual(endsOf(world), ['silent', 'expired']);
    assert.equal(world.upstream.open, 1);
  });

  test.each(['expire', 'goaway', 'drop'] as const)(
    'an upstream that takes a subscription and ends it again (%s) is no loop',
    async (fault) => {
      const world = await subscribed({ shiftMs: hour });
      const from = world.time.now();
      for (let count = 0; count < 600; count++) {
        world.upstream.bring(fault);
        await world.pass(second);
      }
      assert.ok(attemptsSince(world, from).length < 60, `${attemptsSince(world, from).length}`);
    },
  );

  test('a refused secret: no storm, also over many listeners; another one is tried within a minute', async () => {
    const world = await subscribed();
    world.upstream.secret = 'new-canary-token';
    const from = world.time.now();
    world.upstream.bring('unauthenticated');
    await world.pass(hour);
    const { length } = attemptsSince(world, from);
    assert.ok(length >= 1 && length <= 3, `${length} attempts in an hour`);
    await world.pass(12 * hour);
    assert.ok(attemptsSince(world, from).length <= 9, `${attemptsSince(world, from).length} in half a day`);
    assert.ok(endsOf(world).includes('authentication_error'));
    assert.equal(world.instances.at(-3)?.result, 'refused');
    assert.ok(
      world
        .reportsOf('state')
        .slice(-3)
        .every(({ connected }) => !connected),
    );
    world.credential = { ...world.credential, accessToken: 'new-canary-token' };
    await world.pass(minute + 5 * second);
    assert.equal(world.upstream.open, 1);
    checkReports(world);
  });

  test('too many connections: never answered by more of them', async () => {
    const world = await subscribed();
    world.upstream.answer = 'too-many';
    const from = world.time.now();
    world.upstream.bring('too-many');
    await world.pass(hour);
    const attempts = attemptsSince(world, from);
    const pauses = attempts.map((at, index) => at - (attempts[index - 1] ?? from));
    assert.ok(attempts.length <= 9, `${attempts.length} attempts in an hour`);
    assert.ok(pauses[0]! >= minute && pauses.every((pause) => pause >= minute), `${pauses}`);
    world.upstream.answer = 'subscribed';
    await world.pass(13 * minute);
    assert.equal(world.upstream.open, 1);
  });

  test('another listener on the same app key: each taking of the place is later than the one before', async () => {
    const world = await subscribed();
    const from = world.time.now();
    for (let count = 0; count < 3600; count++) {
      if (count % 10 === 0) world.upstream.bring('too-many');
      await world.pass(second);
    }
    const { length } = attemptsSince(world, from);
    assert.ok(length >= 5 && length <= 10, `${length} attempts in an hour`);
  });

  test('an upstream that is away is tried again and again, and ever more rarely', async () => {
    const world = await subscribed({ shiftMs: hour });
    world.upstream.answer = 'unavailable';
    world.upstream.bring('drop');
    const from = world.time.now();
    await world.pass(10 * minute);
    const attempts = attemptsSince(world, from);
    assert.ok(attempts[0]! - from >= 250 && attempts[0]! - from <= second);
    assert.ok(attempts.length >= 20 && attempts.length <= 50, `${attempts.length} attempts`);
    world.upstream.answer = 'subscribed';
    await world.pass(35 * second);
    assert.equal(world.upstream.open, 1);
  });

  test('a new secret is for a new stream', async () => {
    const world = await subscribed({ shiftMs: hour });
    world.credential = { ...world.credential, accessToken: 'next-canary-token' };
    await world.pass(6 * minute);
    assert.deepEqual(endsOf(world), ['secret_changed']);
    assert.deepEqual(world.upstream.tokens, [canaries.accessToken, 'next-canary-token']);
    assert.equal(world.upstream.open, 1);
  });

  describe('a secret that is rotated while a successor waits with the former one', () => {
    const rotated = async (): Promise<World> => {
      const world = await subscribed();
      await world.pass(13.5 * minute);
      const successor = world.listening.find((instance) => instance !== world.owner);
      assert.ok(successor, 'a successor waits');
      return world;
    };
    const rotate = (world: World) => {
      world.upstream.secret = 'next-canary-token';
      world.credential = { ...world.credential, accessToken: 'next-canary-token' };
    };

    test('is read again when the upstream refuses the former one at the hand-over', async () => {
      const world = await rotated();
      rotate(world);
      await world.pass(minute);
      assert.equal(world.upstream.open, 1);
      assert.ok(
        Math.max(...world.upstream.closedForMs) <= second,
        `closed for ${world.upstream.closedForMs}`,
      );
      assert.deepEqual(endsOf(world), ['handed_over', 'authentication_error']);
      assert.ok(world.instances.every(({ result }) => result !== 'refused'));
    });

    test('is read again when the upstream ends the stream for it', async () => {
      const world = await rotated();
      rotate(world);
      world.upstream.bring('unauthenticated');
      await world.pass(2 * minute);
      assert.equal(world.upstream.open, 1);
      assert.ok(
        Math.max(...world.upstream.closedForMs) <= second,
        `closed for ${world.upstream.closedForMs}`,
      );
      assert.equal(world.upstream.tokens.filter((token) => token === canaries.accessToken).length, 2);
      assert.ok(world.instances.every(({ result }) => result !== 'refused'));
    });

    test('is tried within a minute when the upstream has it before the secret is written', async () => {
      const world = await rotated();
      world.upstream.secret = 'next-canary-token';
      world.upstream.bring('unauthenticated');
      await world.pass(10 * second);
      assert.equal(world.upstream.open, 0);
      rotate(world);
      await world.pass(minute);
      assert.equal(world.upstream.open, 1);
      assert.ok(attemptsSince(world, world.startedAt).length <= 4);
    });

    test('is for another app key: the start that reads it has a lease of its own', async () => {
      const world = await rotated();
      rotate(world);
      world.credential = { ...world.credential, appKey: 'key-2' };
      await world.pass(2 * minute);
      assert.equal(world.upstream.open, 1);
      assert.equal(Math.max(...world.upstream.openCounts), 1);
      assert.ok(Math.max(...world.upstream.closedForMs) <= minute + second);
    });
  });

  test('a listener that cannot read the secret ends, and says so', async () => {
    const world = new World();
    Object.defineProperty(world, 'credential', {
      get: () => {
        throw new Error('the secret is away');
      },
    });
    const instance = world.start();
    await world.pass(second);
    assert.equal(instance.result, 'refused');
    assert.equal(world.reportsOf('failed')[0]?.step, 'credential');
  });

  test('a stop hands over at once', async () => {
    const world = await subscribed();
    const [first] = world.instances;
    first?.stop.abort();
    await world.pass(second);
    assert.equal(first?.result, 'listened');
    assert.equal(world.upstream.open, 0);
    world.start();
    await world.pass(second);
    assert.equal(world.upstream.open, 1);
  });

  test('the state is told each minute', async () => {
    const world = await subscribed({ shiftMs: hour });
    await world.pass(10 * minute);
    const states = world.reportsOf('state');
    assert.ok(states.length >= 10 && states.every(({ connected }) => connected));
    assert.ok(states.every(({ lastSignAgeMs = 0 }) => lastSignAgeMs <= 21 * second));
  });
});

describe('the store', () => {
  test('away for a moment costs the lease, and neither an event nor the listener', async () => {
    const world = await subscribed({ shiftMs: hour });
    const order = placed(world);
    let isAway = true;
    world.storeFault = () => (isAway ? 'before' : undefined);
    world.upstream.fill(order, 3);
    // No read shows this one.
    world.upstream.send({ eventType: 1028, payload: '{"event_name":"settled"}', requestId: 'p' });
    await world.pass(30 * second);
    assert.equal(world.upstream.open, 0);
    isAway = false;
    await world.pass(90 * second);
    assert.equal(world.upstream.open, 1);
    assert.deepEqual(
      world
        .distinct()
        .map(({ detailType }) => detailType)
        .sort(),
      ['OrderChanged', 'PositionChanged'],
    );
    checkBus(world);
  });

  test('away for minutes costs no event, not even one that no read shows', async () => {
    const world = await subscribed({ shiftMs: hour });
    let isAway = true;
    world.storeFault = () => (isAway ? 'before' : undefined);
    world.upstream.send({ eventType: 1028, payload: '{"event_name":"settled"}', requestId: 'p' });
    await world.pass(3 * minute);
    isAway = false;
    await world.pass(2 * minute);
    assert.deepEqual(each(world.distinct(), 'detailType'), ['PositionChanged']);
  });

  test('away while the process ends: what a read shows still comes, and a settlement is lost', async () => {
    const world = await subscribed();
    const [partly, wholly, replaced, cancelled] = ['CID-1', 'CID-2', 'CID-3', 'CID-4'].map((id) =>
      placed(world, id),
    );
    // Its last comparison knows all of them.
    await world.pass(2 * minute);
    world.storeFault = () => 'before';
    world.upstream.fill(partly!, 3);
    world.upstream.fill(wholly!, 10);
    world.upstream.modify(replaced!, 120);
    world.upstream.cancel(cancelled!);
    world.upstream.fill(placed(world, 'CID-5'), 4);
    world.upstream.send({ eventType: 1028, payload: '{"event_name":"settled"}', requestId: 'p' });
    await world.pass(second);
    const [first] = world.instances;
    world.kill(first!);
    assert.equal(world.bus.length, 0);
    await world.pass(minute);
    world.storeFault = undefined;
    await world.pass(4 * minute);
    assert.deepEqual(statesOf(world).sort(), [
      'CANCEL_SUCCESS CANCELLED 0.000 reconciled',
      'FILLED PARTIAL_FILLED 3.000 reconciled',
      'FILLED PARTIAL_FILLED 4.000 reconciled',
      'FINAL_FILLED FILLED 10.000 reconciled',
      'MODIFY_SUCCESS SUBMITTED 0.000 reconciled',
    ]);
    checkBus(world);
  });

  test('that fails once for a message is asked again, also where that waited behind one that it never takes', async () => {
    const world = await subscribed({ shiftMs: hour });
    const { add } = world.store;
    const store = world.store as { add: typeof add };
    let attempts = 0;
    store.add = async (call) => {
      const isSettlement = call.event.detail.includes('"settled"');
      if (!isSettlement || attempts++ === 0) throw new Error('not now');
      return add(call);
    };
    for (const name of ['poison', 'settled'])
      world.upstream.send({ eventType: 1028, payload: `{"event_name":"${name}"}`, requestId: name });
    await world.pass(2 * minute);
    assert.equal(attempts, 2);
    assert.deepEqual(each(world.distinct(), 'detailType'), ['PositionChanged']);
  });

  test('that has the order in another state meanwhile is looked at again', async () => {
    const world = await subscribed();
    const store = world.store as { -readonly [K in keyof typeof world.store]: (typeof world.store)[K] };
    const { add, note } = world.store;
    let isFirst = true;
    store.add = async (call) => {
      if (isFirst && call.order) await note(call.lease, call.order);
      isFirst = false;
      return add(call);
    };
    world.upstream.fill(placed(world), 3);
    await world.pass(second);
    assert.deepEqual(statesOf(world), ['FILLED SUBMITTED 3.00 streamed']);
  });

  test('that takes a settlement late does not make it one of the account that is left by then', async () => {
    const world = await subscribed({ shiftMs: hour });
    // By then, the next stream reads the accounts again.
    await world.pass(11 * minute);
    const { add } = world.store;
    const store = world.store as { add: typeof add };
    store.add = () => Promise.reject(new Error('the store is away'));
    // One of the two accounts has it, and it does not say which.
    world.upstream.send({ eventType: 1028, payload: '{"event_name":"settled"}', requestId: 'p' });
    await world.pass(second);
    world.upstream.accountIds = [account];
    for (let streams = 0; streams < 2; streams++) {
      world.upstream.bring('drop');
      await world.pass(5 * second);
    }
    store.add = add;
    await world.pass(10 * second);
    assert.deepEqual(
      world.distinct().map(({ detail }) => [detail.account, detail.account_id]),
      [[undefined, undefined]],
    );
  });

  test('that never takes one message does not stop the others', async () => {
    const world = await subscribed({ shiftMs: hour });
    const { add } = world.store;
    const store = world.store as { add: typeof add };
    store.add = async (call) => {
      if (call.event.detail.includes('"poison"')) throw new Error('it is too large');
      return add(call);
    };
    world.upstream.send({ eventType: 1028, payload: '{"event_name":"poison"}', requestId: 'p' });
    world.upstream.fill(placed(world), 3);
    await world.pass(2 * minute);
    const later = placed(world, 'CID-2');
    world.upstream.fill(later, 4);
    await world.pass(second);
    const states = statesOf(world);
    assert.deepEqual([states.length, states[1]], [2, 'FILLED SUBMITTED 4.00 streamed']);
    checkBus(world);
  });
});
