/** One content to each id where one port fails; `chaos.test.ts` has every combination. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { operations } from '../../../lib/catalogue/index.ts';
import { type ClaimCall, createLookups, type LookupsOptions } from '../../../lib/lookups/index.ts';
import { until } from '../../support/until.ts';
import { createWorld, limitMs, market, quotes, visibilityMs, type World } from '../world.ts';

const request = () => quotes(['A', 'B']);
const broken = () => Promise.reject(new Error('away'));

/** Tells of each call, and never answers. */
const hangs = (onCall: () => void): LookupsOptions['gateway'] => ({
  ask: () => {
    onCall();
    return new Promise(() => {});
  },
});
const silent = (onCall: () => void): LookupsOptions['bus'] => ({
  publish: () => {
    onCall();
    return new Promise(() => {});
  },
});

/** The same world with another function, of which some port fails. */
const other = (world: World, change: Partial<LookupsOptions>) =>
  createLookups({ ...world.options, ...change });

test('copies, in one batch or later, are answered once', async () => {
  const world = createWorld();
  const { options } = world;
  const one = request();
  world.send(one);
  world.send({ 'detail-type': 'QuoteLookupRequested', detail: one });
  await world.deliver();
  world.send(one);
  await world.deliver(100, createLookups(options));
  assert.equal(world.published.length, 1);
  assert.equal(world.calls.length, 1);
  assert.equal(world.queue.length, 0);
});

test('copies in two batches at once: one is answered, the other waits until its owner had time, and finds the reply', async () => {
  const world = createWorld();
  const one = request();
  world.send(one);
  world.send(one);
  let goOn: (() => void) | undefined;
  const slow = other(world, {
    gateway: {
      ask: (call) =>
        new Promise((resolve) => {
          goOn = () => resolve(world.options.gateway.ask(call));
        }),
    },
  });
  const first = world.deliver(1, slow);
  await until(() => goOn !== undefined);
  await world.deliver(1);
  goOn?.();
  await first;
  assert.equal(world.calls.length, 1);
  assert.equal(world.waits.length, 1);
  assert.ok((world.waits[0]?.seconds ?? 0) * 1000 > limitMs);
  await world.run();
  assert.equal(world.published.length, 1);
});

test('a request is remembered for longer than its message can be under way', async () => {
  const world = createWorld();
  const { store } = world.options;
  const calls: ClaimCall[] = [];
  const claim = (call: ClaimCall) => {
    calls.push(call);
    return store.claim(call);
  };
  world.send(request());
  await world.deliver(1, other(world, { store: { ...store, claim } }));
  const days = ((calls[0]?.expiresAt ?? 0) - world.now) / 86_400_000;
  // SQS keeps a message for 14 days; one that waits is a new one, until its deadline half a day later.
  assert.ok(days > 14.5, `${days} days`);
  assert.equal(calls[0]?.leaseUntil, world.now + limitMs);
});

test('a replay has the same reply again', async () => {
  const world = createWorld();
  const one = request();
  world.send(one);
  await world.deliver();
  world.upstream = () => '[]';
  world.send({ 'detail-type': 'QuoteLookupRequested', 'replay-name': 'again', detail: one });
  await world.deliver();
  assert.equal(world.published.length, 2);
  world.send(one);
  world.send({ 'detail-type': 'QuoteLookupRequested', 'replay-name': 'again', detail: one });
  await world.deliver();
  assert.equal(world.published.length, 3, 'beside a copy, too');
  assert.equal(world.repliesTo(one.request_id).length, 1);
  assert.equal(world.calls.length, 1);
});

test('another request with the same id is a dead letter, in one batch and later, and the first is answered', async () => {
  const world = createWorld();
  const one = request();
  const conflict = { ...one, symbols: ['C'] };
  world.send(one);
  world.send(conflict);
  await world.deliver();
  world.send(conflict);
  await world.deliver();
  assert.deepEqual(
    world.dead.map(({ body, reason }) => [JSON.parse(body).symbols, reason]),
    Array(2).fill([['C'], 'id_conflict: another request had this request_id']),
  );
  assert.equal(world.repliesTo(one.request_id).length, 1);
  // Another deadline is no other question.
  world.send({ ...one, deadline_seconds: 60 });
  await world.deliver();
  assert.equal(world.dead.length, 2);
});

test('poison goes alone and at once; its sender receives one failure, and never in place of an answer', async () => {
  const world = createWorld();
  const good = request();
  const wrong = { ...request(), category: 'US' };
  for (const body of ['[]', good, wrong, wrong, { ...good, symbols: [] }]) world.send(body);
  await world.deliver();
  assert.equal(world.queue.length, 0);
  assert.equal(world.dead.length, 4);
  assert.ok(world.dead.every(({ reason }) => reason.startsWith('invalid_request: ')));
  assert.deepEqual(
    world.repliesTo(wrong.request_id).map(({ type, detail }) => [type, detail.code, detail.retryable]),
    [['QuoteLookupFailed', 'invalid_request', false]],
  );
  await world.run();
  const replies = world.repliesTo(good.request_id);
  assert.equal(replies.length, 1);
});

test('a message nested without end is poison like any other, and costs the batch nothing', async () => {
  const world = createWorld();
  const one = request();
  const deep = `{"request_id":"deep","symbols":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  world.send(deep);
  world.send(one);
  await world.deliver();
  assert.equal(world.queue.length, 0);
  assert.deepEqual(world.dead, [{ body: deep, reason: 'invalid_request: /: nested deeper than 64 levels' }]);
  assert.equal(world.repliesTo('deep')[0]?.detail.code, 'invalid_request');
  assert.equal(world.repliesTo(one.request_id)[0]?.type, 'QuoteLookupCompleted');
});

test('a message that we cannot read for a defect of ours comes again, alone', async () => {
  const world = createWorld();
  const one = request();
  const read = { request_id: 'read', operation: 'getStockSnapshots', query: {} };
  const message = world.send(read);
  world.send(one);
  const defective = operations.map((operation) => ({
    ...operation,
    get sideEffect(): never {
      throw new Error('defect');
    },
  }));
  await world.deliver(100, other(world, { operations: defective }));
  assert.deepEqual(world.queue, [message]);
  assert.equal(world.repliesTo(one.request_id)[0]?.type, 'QuoteLookupCompleted');
});

/** Hands the batch back: its function is about to end. */
const ring = (world: World) => {
  for (const run of [...world.alarms]) run();
};

test('a function that is about to end hands back what is unfinished, and only that', async () => {
  const world = createWorld();
  const [slow, quick] = [request(), { ...request(), max_age_seconds: 5 }];
  const message = world.send(slow);
  world.send('no json');
  const copy = world.send(slow);
  let asked = 0;
  const hung = other(world, { gateway: hangs(() => asked++) });
  const batch = world.deliver(3, hung);
  await until(() => asked === 1 && world.dead.length === 1);
  ring(world);
  await batch;
  assert.deepEqual(world.queue, [message, copy]);
  assert.deepEqual([world.dead.length, world.reports[0]?.undone], [1, 2]);
  // It was claimed: a copy waits until that has run out, and then one of them is answered.
  world.send(slow);
  world.send(quick);
  await world.run();
  assert.equal(message.receives, 2);
  for (const { request_id } of [slow, quick]) assert.equal(world.repliesTo(request_id).length, 1);
  assert.equal(world.published.length, 2);
});

test('a message that the queue gives to two at once is not lost when one puts a copy and the other fails with both', async () => {
  const world = createWorld();
  const one = request();
  world.send(one);
  world.upstream = () => ({ code: 'budget_used_up', retryAfterSeconds: 1 });
  const { queue } = world.options;
  let goOn: (() => void) | undefined;
  // Its copy is in the queue, but the function learns that late.
  const slow = other(world, {
    queue: {
      ...queue,
      async putAgain(waits) {
        const failed = await queue.putAgain(waits);
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        return failed;
      },
    },
  });
  const first = world.deliver(1, slow);
  await until(() => goOn !== undefined);
  // SQS delivers at least once: here the same message again, beside its copy.
  world.now += 5000;
  for (const message of world.queue) message.visibleAt = world.now;
  let asked = 0;
  const second = world.deliver(2, other(world, { gateway: hangs(() => asked++) }));
  await until(() => asked === 1);
  goOn?.();
  await first;
  ring(world);
  await second;
  world.upstream = market;
  await world.run();
  assert.equal(world.repliesTo(one.request_id).length, 1);
});

test('a waiting request is in the queue again before a slow bus can cost it a delivery', async () => {
  const world = createWorld();
  const [good, waiting] = [request(), quotes(['W'])];
  world.upstream = (call) =>
    call.query.some(([, value]) => value === 'true')
      ? market(call)
      : { code: 'budget_used_up', retryAfterSeconds: 1 };
  const message = world.send({ ...good, overnight_required: true });
  world.send(waiting);
  let puts = 0;
  const batch = world.deliver(2, other(world, { bus: silent(() => puts++) }));
  await until(() => puts === 1 && world.waits.length === 1);
  ring(world);
  await batch;
  assert.equal(world.waits.length, 1);
  assert.equal(world.queue.length, 2);
  assert.ok(world.queue.includes(message));
  const calls = world.calls.length;
  world.upstream = market;
  await world.run();
  assert.equal(world.calls.length, calls + 1, 'what was kept is not asked for again');
  for (const { request_id } of [good, waiting]) assert.equal(world.repliesTo(request_id).length, 1);
});

test('what a function comes to too late is not claimed, and comes again', async () => {
  const world = createWorld();
  const { store } = world.options;
  let claims = 0;
  const slow: LookupsOptions['store'] = {
    ...store,
    claim(call) {
      claims++;
      world.now += 1000;
      return store.claim(call);
    },
  };
  const requests = Array.from({ length: 40 }, request);
  for (const one of requests) world.send(one);
  await world.deliver(40, other(world, { store: slow }));
  assert.ok(claims > 0 && claims < 40, `${claims} claims`);
  assert.equal(world.reports[0]?.undone, 40 - claims);
  await world.run();
  for (const { request_id } of requests) assert.equal(world.repliesTo(request_id).length, 1);
});

test('a message becomes one dead letter, even if the reply to its sender fails', async () => {
  for (const what of ['claim', 'saveReply', 'publish'] as const) {
    const world = createWorld();
    const { store, bus } = world.options;
    world.send({ ...request(), category: 'US' });
    await world.deliver(
      1,
      other(
        world,
        what === 'publish' ? { bus: { ...bus, [what]: broken } } : { store: { ...store, [what]: broken } },
      ),
    );
    assert.deepEqual([world.dead.length, world.queue.length], [1, 0], what);
    assert.equal(world.reports[0]?.causes.length, 1);
  }
});

test('a function that died before it could publish: what it had is published, not something newer', async () => {
  const world = createWorld();
  const one = request();
  world.send(one);
  let puts = 0;
  void world.deliver(1, other(world, { bus: silent(() => puts++) }));
  await until(() => puts === 1);
  assert.equal(world.calls.length, 1);
  world.upstream = () => '[]';
  world.now += visibilityMs;
  await world.deliver();
  const replies = world.repliesTo(one.request_id);
  assert.deepEqual(
    replies.map(({ detail }) => (detail.quotes as []).length),
    [2],
  );
  assert.equal(world.calls.length, 1);
});

test('one that only looked dead does not publish what another has answered meanwhile', async () => {
  const world = createWorld();
  const one = request();
  world.send(one);
  let goOn: (() => void) | undefined;
  const frozen = other(world, {
    gateway: {
      ask: (call) =>
        new Promise((resolve) => {
          goOn = () => resolve(world.options.gateway.ask(call));
        }),
    },
  });
  const late = world.deliver(1, frozen);
  await until(() => goOn !== undefined);
  world.now += visibilityMs;
  await world.deliver();
  world.upstream = () => '[{"symbol":"A","price":"9"},{"symbol":"B"}]';
  goOn?.();
  await late;
  await world.run();
  assert.equal(world.repliesTo(one.request_id).length, 1);
  assert.equal(world.published.length, 1);
});

for (const [what, change] of Object.entries<(world: World) => Partial<LookupsOptions>>({
  'the store when it claims': ({ options }) => ({ store: { ...options.store, claim: broken } }),
  'the store when it keeps': ({ options }) => ({ store: { ...options.store, saveReply: broken } }),
  'the bus': () => ({ bus: { publish: broken } }),
  'the bus in part': () => ({ bus: { publish: async (entries) => entries.map(() => false) } }),
}))
  test(`${what} fails: the message comes again, and is answered then`, async () => {
    const world = createWorld();
    const one = request();
    const message = world.send(one);
    await world.deliver(100, other(world, change(world)));
    assert.deepEqual(world.queue, [message]);
    assert.equal(world.published.length, 0);
    assert.equal(world.reports[0]?.undone, 1);
    await world.run();
    assert.equal(world.published.length, 1);
    assert.equal(world.repliesTo(one.request_id)[0]?.type, 'QuoteLookupCompleted');
  });

test('what cannot be marked as published, given back, or put again is not lost either', async () => {
  const world = createWorld();
  const { store, queue } = world.options;
  const one = request();
  world.send(one);
  await world.deliver(100, other(world, { store: { ...store, complete: broken } }));
  assert.deepEqual([world.published.length, world.queue.length], [1, 0]);

  const two = request();
  const message = world.send(two);
  world.upstream = () => ({ code: 'budget_used_up', retryAfterSeconds: 1 });
  await world.deliver(
    100,
    other(world, {
      store: { ...store, release: broken },
      queue: { ...queue, putAgain: async (waits) => new Set(waits.map((wait) => wait.message)) },
    }),
  );
  assert.deepEqual(world.queue, [message]);
  world.upstream = market;
  await world.run();
  assert.equal(world.repliesTo(two.request_id).length, 1);
});

test('dead letters that cannot be put: the poison comes again, the others are answered', async () => {
  const world = createWorld();
  const one = request();
  const poison = world.send('no json');
  world.send(one);
  await world.deliver(100, other(world, { queue: { ...world.options.queue, deadLetter: broken } }));
  assert.deepEqual(world.queue, [poison]);
  assert.equal(world.repliesTo(one.request_id).length, 1);
  await world.run();
  assert.equal(world.dead.length, 1);
});
