/** The response cache: one upstream call for a burst over all instances, stale responses during a refresh. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  createMemoryResponseStore,
  createResponseCache,
  type FetchedResponse,
  type ResponseCall,
  type ResponseOutcome,
  type ResponseStore,
} from '../../lib/cache/responses/index.ts';
import { VirtualTime } from '../world/virtual-time.ts';

const body = (text: string) => new TextEncoder().encode(text);

function setUp(settings: Parameters<typeof createResponseCache>[0] | object = {}) {
  const time = new VirtualTime();
  const memory = createMemoryResponseStore();
  const state = { away: false, calls: 0, fails: false, isPrivate: false, fetchMs: 100, overQuota: 0 };
  const trip = async <T>(work: () => Promise<T>): Promise<T> => {
    await time.sleep(5);
    if (state.away) throw new Error('away');
    return work();
  };
  const store: ResponseStore = {
    read: (key) => trip(() => memory.read(key)),
    lease: (key, now, until) => trip(() => memory.lease(key, now, until)),
    release: (key, at) => trip(() => memory.release(key, at)),
    write: (key, answer, expiresAt) => trip(() => memory.write(key, answer, expiresAt)),
    countUse: (account, now, most) => trip(() => memory.countUse(account, now, most)),
  };
  const fetch = async (isOverQuota: boolean): Promise<FetchedResponse> => {
    const call = ++state.calls;
    const { fails, isPrivate } = state;
    if (isOverQuota) state.overQuota++;
    await time.sleep(state.fetchMs);
    if (fails)
      return {
        kind: 'refused',
        refusal: { code: 'upstream_error', call },
        ...(isPrivate && { isPrivate: true }),
      };
    return { kind: 'answer', body: body(`{"call":${call}}`) };
  };
  const instance = () => createResponseCache({ store, clock: time.now, sleep: time.sleep, ...settings });
  const call = (change: Partial<ResponseCall> = {}): ResponseCall => ({
    key: 'bars#1',
    caller: { unit: 'app' },
    freshness: { freshMs: 5000, staleMs: 10_000 },
    fetchMs: 3000,
    fetch,
    ...change,
  });
  async function finish<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    for (let steps = 0; !isDone; steps++) {
      if (steps > 20_000) throw new Error('it never ends');
      await time.runUntil(time.now() + 1);
    }
    return done;
  }
  const wait = (ms: number) => time.runUntil(time.now() + ms);
  return { time, memory, state, instance, call, finish, wait };
}

const said = (outcome: ResponseOutcome) =>
  outcome.kind === 'unavailable'
    ? 'unavailable'
    : outcome.answer.kind === 'answer'
      ? new TextDecoder().decode(outcome.answer.body)
      : JSON.stringify(outcome.answer.refusal);

test('what is fresh is given without asking: from memory, or by a new instance from the store', async () => {
  const { state, instance, call, finish, wait } = setUp();
  const first = instance();
  await finish(first.ask(call()));
  await wait(4000);
  const again = await finish(first.ask(call()));
  const other = await finish(instance().ask(call()));
  assert.deepEqual(
    [again.kind === 'answer' && again.from, other.kind === 'answer' && other.from],
    ['memory', 'store'],
  );
  assert.ok(again.kind === 'answer' && again.ageMs >= 4000 && again.ttlMs <= 1000);
  assert.equal(state.calls, 1);
});

test('what is stale is given to all but the one who asks anew', async () => {
  const { state, instance, call, finish, wait } = setUp();
  await finish(instance().ask(call()));
  await wait(6000);
  const outcomes = await finish(
    Promise.all(Array.from({ length: 20 }, instance).map((one) => one.ask(call()))),
  );
  assert.equal(state.calls, 2);
  const texts = outcomes.map(said).sort();
  assert.deepEqual([texts.filter((one) => one === '{"call":1}').length, texts.at(-1)], [19, '{"call":2}']);
  for (const one of outcomes)
    if (said(one) === '{"call":1}') assert.ok(one.kind === 'answer' && one.ttlMs < 0 && one.ageMs >= 6000);
});

test('what is older than stale is not given, whatever a client would accept', async () => {
  const { instance, call, finish, wait } = setUp();
  await finish(instance().ask(call()));
  await wait(15_200);
  const outcomes = await finish(
    Promise.all(
      [0, 5000, 60_000, undefined, undefined].map((maxStaleMs) =>
        instance().ask(call(maxStaleMs === undefined ? {} : { maxStaleMs })),
      ),
    ),
  );
  assert.deepEqual(new Set(outcomes.map(said)), new Set(['{"call":2}']));
});

test('max-age asks for something younger, down to a second', async () => {
  const { state, instance, call, finish, wait } = setUp();
  const one = instance();
  await finish(one.ask(call()));
  await wait(2000);
  assert.equal(said(await finish(one.ask(call({ maxAgeMs: 3000 })))), '{"call":1}');
  assert.equal(said(await finish(one.ask(call({ maxAgeMs: 0 })))), '{"call":2}');
  await wait(500);
  assert.equal(said(await finish(one.ask(call({ maxAgeMs: 0 })))), '{"call":2}');
  assert.equal(state.calls, 2);
});

test('a refusal stands for a second and a half, and does not take the place of an answer', async () => {
  const { state, instance, call, finish, wait } = setUp();
  state.fails = true;
  const one = instance();
  const refused = await finish(one.ask(call()));
  assert.equal(refused.kind, 'refused');
  assert.equal(said(await finish(one.ask(call()))), said(refused));
  assert.equal(said(await finish(instance().ask(call()))), said(refused));
  assert.equal(state.calls, 1);
  await wait(1600);
  state.fails = false;
  assert.equal(said(await finish(one.ask(call()))), '{"call":2}');
  state.fails = true;
  await wait(6000);
  assert.equal(said(await finish(one.ask(call()))), '{"call":2}');
  assert.equal(said(await finish(instance().ask(call()))), '{"call":2}');
});

test('an instance that acquired the lease and died delays the others for the lease’s time only', async () => {
  const { memory, time, state, instance, call, finish } = setUp();
  await memory.lease('bars#1', time.now(), time.now() + 3000);
  const started = time.now();
  assert.equal(said(await finish(instance().ask(call()))), '{"call":1}');
  assert.ok(time.now() - started >= 3000 && time.now() - started < 4500);
  assert.equal(state.calls, 1);
});

test('no request waits longer than its time', async () => {
  const { memory, time, instance, call, finish } = setUp();
  await memory.lease('bars#1', time.now(), time.now() + 60_000);
  const started = time.now();
  const outcome = await finish(instance().ask(call({ deadline: started + 1000 })));
  assert.equal(outcome.kind, 'unavailable');
  assert.ok(time.now() - started < 1300);
});

test('without a store each instance keeps its own', async () => {
  const { state, instance, call, finish } = setUp();
  state.away = true;
  const one = instance();
  const outcomes = await finish(Promise.all([one.ask(call()), one.ask(call()), instance().ask(call())]));
  assert.ok(outcomes.every(({ kind }) => kind === 'answer'));
  assert.equal(state.calls, 2);
  assert.equal(said(await finish(one.ask(call()))), said(outcomes[0]!));
});

test('a stream of odd requests does not push out what is in use', async () => {
  const { state, instance, call, finish } = setUp({ maxBytes: 40_000 });
  const one = instance();
  state.fetchMs = 1;
  const freshness = { freshMs: 60_000, staleMs: 0 };
  await finish(one.ask(call({ freshness })));
  await finish(one.ask(call({ freshness })));
  for (let odd = 0; odd < 300; odd++) await finish(one.ask(call({ freshness, key: `odd#${odd}` })));
  const outcome = await finish(one.ask(call({ freshness })));
  assert.ok(outcome.kind === 'answer' && outcome.from === 'memory');
  const gone = await finish(one.ask(call({ freshness, key: 'odd#0' })));
  assert.ok(gone.kind === 'answer' && gone.from === 'store');
});

test('a refresh that is impossible is answered with the cached response', async () => {
  const { state, instance, call, finish, wait } = setUp();
  await finish(instance().ask(call()));
  await wait(2000);
  state.fails = true;
  const outcome = await finish(instance().ask(call({ maxAgeMs: 0 })));
  assert.equal(said(outcome), '{"call":1}');
  assert.ok(outcome.kind === 'answer' && outcome.ageMs >= 2000);
  assert.equal(state.calls, 2);
});

test('a member beyond its share of misses is held back alone, until the whole unit is beyond its own', async () => {
  const { state, instance, call, finish } = setUp();
  let odd = 0;
  const misses = async (member: string, times: number) => {
    const before = state.overQuota;
    const calls = Array.from({ length: times }, () =>
      call({ key: `odd#${odd++}`, caller: { unit: 'app', member } }),
    );
    await finish(Promise.all(calls.map((one) => instance().ask(one))));
    return state.overQuota - before;
  };
  assert.equal(await misses('greedy', 200), 140);
  assert.equal(await misses('neighbour', 60), 0);
  assert.equal(await misses('third', 60), 30);
});

test('a private answer is returned to no other request', async () => {
  const { state, instance, call, finish } = setUp();
  const own = async (): Promise<FetchedResponse> => ({
    kind: 'answer',
    body: body('"own"'),
    isPrivate: true,
  });
  const one = instance();
  assert.equal(said(await finish(one.ask(call({ fetch: own })))), '"own"');
  assert.equal(said(await finish(one.ask(call()))), '{"call":1}');
  assert.equal(state.calls, 1);
});

test('a private refusal is returned to no other request', async () => {
  const { state, instance, call, finish, wait } = setUp();
  Object.assign(state, { fails: true, isPrivate: true });
  const one = instance();
  const first = finish(one.ask(call()));
  await wait(60);
  Object.assign(state, { fails: false });
  const second = finish(one.ask(call()));
  assert.equal((await first).kind, 'refused');
  assert.equal(said(await second), '{"call":2}');
});

test('while the upstream fails it is asked every second and a half, whatever is known', async () => {
  for (const [known, ageMs] of [
    [false, 0],
    [true, 16_000],
    [true, 6000],
  ] as const) {
    const { state, instance, call, finish, wait } = setUp();
    const instances = [instance(), instance()];
    if (known) await finish(instances[0]!.ask(call()));
    await wait(ageMs);
    state.fails = true;
    state.calls = 0;
    for (let request = 0; request < 60; request++) {
      const outcome = await finish(instances[request % 2]!.ask(call()));
      if (ageMs === 6000) assert.equal(outcome.kind, 'answer');
      await wait(100);
    }
    // In about seven seconds.
    assert.ok(state.calls <= 9, `${state.calls} calls, known ${known}, ${ageMs} ms old`);
  }
});

test('a request waits for another’s fetch no longer than its time, and not at all for a cached response', async () => {
  const { state, time, instance, call, finish, wait } = setUp();
  state.fetchMs = 3000;
  const one = instance();
  const first = one.ask(call());
  await wait(50);
  const asked = time.now();
  const timed = async (change: Partial<ResponseCall>) => {
    const { kind } = await one.ask(call(change));
    return [kind, time.now() - asked < 1000];
  };
  const hurried = timed({ deadline: asked + 500 });
  const cached = timed({ onlyIfCached: true });
  assert.deepEqual(await finish(hurried), ['unavailable', true]);
  assert.deepEqual(await finish(cached), ['unavailable', true]);
  assert.equal((await finish(first)).kind, 'answer');
  assert.equal(state.calls, 1);
});

test('without a store one of concurrent requests asks the upstream; its private refusal is not the others’', async () => {
  const { state, instance, call, finish, wait } = setUp();
  Object.assign(state, { away: true, fails: true, isPrivate: true });
  const one = instance();
  const asks = Array.from({ length: 3 }, () => finish(one.ask(call())));
  await wait(30);
  Object.assign(state, { fails: false });
  const kinds = (await Promise.all(asks)).map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, ['answer', 'answer', 'refused']);
  assert.equal(state.calls, 2);
});

test('what another version refused, or a wrong clock wrote, is not there', async () => {
  const known = (refusal: unknown) => (refusal as { code?: string }).code === 'known';
  const { memory, time, state, instance, call, finish } = setUp({ isRefusal: known });
  const later = time.now() + 60_000;
  for (const stored of [
    { kind: 'refused', refusal: { code: 'of-another-version' }, askedAt: time.now() },
    { kind: 'answer', body: body('"from the future"'), askedAt: time.now() + 30_000 },
    { kind: 'answer', body: body('"a little ahead"'), askedAt: time.now() + 2000 },
  ] as const) {
    state.calls = 0;
    await memory.write('bars#1', stored, later);
    assert.equal(said(await finish(instance().ask(call()))), '{"call":1}');
  }
});
