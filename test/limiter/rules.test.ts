/** The rules on small figures, where random inputs reach every corner. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  createLimiter,
  createMemoryLimiterStore,
  type Limiter,
  type LimiterOptions,
  type LimiterStore,
  limiterKey,
  windowOf,
} from '../../lib/limiter/index.ts';
import {
  countAfter,
  dropUpTo,
  type GrantRun,
  nthAfter,
  readSchedule,
  renewedSchedule,
  type Schedule,
  scheduleText,
  timeOf,
  withoutFirst,
  withRun,
} from '../../lib/limiter/schedule.ts';
import { createRandom } from '../world/random.ts';
import { VirtualTime } from '../world/virtual-time.ts';
import { SlowStore } from './world/slow-store.ts';
import { Upstream } from './world/upstream.ts';

const epoch = 1_795_000_000_000;

describe('the grant log', () => {
  const run = fc.record({
    from: fc.integer({ min: epoch, max: epoch + 1000 }),
    step: fc.constantFrom(0, 1, 7, 207.2214765),
    count: fc.integer({ min: 1, max: 20 }),
  });
  const runs = fc.array(run, { maxLength: 6 });
  const timesOf = (list: readonly GrantRun[]) =>
    list
      .flatMap((one) => Array.from({ length: one.count }, (_, index) => timeOf(one, index)))
      .sort((a, b) => a - b);
  const anyTime = fc.integer({ min: epoch - 10, max: epoch + 6000 });

  test('counts, finds and drops exactly the times of its runs', () => {
    fc.assert(
      fc.property(runs, anyTime, fc.integer({ min: 1, max: 30 }), (list, time, nth) => {
        const after = timesOf(list).filter((one) => one > time + 0.02);
        assert.equal(countAfter(list, time), after.length);
        assert.equal(nthAfter(list, time, nth), after[nth - 1]);
        const rest = timesOf(dropUpTo(list, time));
        assert.equal(rest.length, after.length);
        for (const [index, one] of rest.entries()) assert.ok(Math.abs(one - after[index]!) < 0.01);
      }),
    );
  });

  test('without the first times after one it holds exactly the others', () => {
    fc.assert(
      fc.property(runs, anyTime, fc.integer({ min: 0, max: 30 }), (list, time, count) => {
        const all = timesOf(list);
        const before = all.filter((one) => one <= time + 0.01).length;
        all.splice(before, count);
        const rest = timesOf(withoutFirst(list, time, count));
        assert.equal(rest.length, all.length);
        for (const [index, one] of rest.entries()) assert.ok(Math.abs(one - all[index]!) < 0.02);
      }),
    );
  });

  test('joined runs hold the same times', () => {
    fc.assert(
      fc.property(runs, (list) => {
        const joined = list.reduce<readonly GrantRun[]>(withRun, []);
        const [before, after] = [timesOf(list), timesOf(joined)];
        assert.equal(after.length, before.length);
        for (const [index, time] of after.entries()) assert.ok(Math.abs(time - before[index]!) < 0.01);
      }),
    );
    const step = 207.2214765100671;
    let steady: readonly GrantRun[] = [];
    for (let index = 0; index < 300; index += 3)
      steady = withRun(steady, { from: timeOf({ from: epoch, step }, index), step, count: 3 });
    assert.deepEqual(steady, [{ from: epoch, step, count: 300 }]);
  });
});

describe('the arithmetic of a limit', () => {
  const margin = fc.integer({ min: 0, max: 2000 });
  test('the window is long enough for clocks, life and network; a part is held back, or else it is a second longer', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 3600 }),
        margin,
        margin,
        margin,
        (requests, perSeconds, clockOffsetMs, networkMs, permitLifeMs) => {
          const margins = { clockOffsetMs, networkMs, permitLifeMs };
          const { capacity, windowMs, stepMs } = windowOf({ requests, perSeconds }, margins, 0);
          const isSmall = requests < 10;
          const least = perSeconds * 1000 + 2 * clockOffsetMs + networkMs + permitLifeMs;
          assert.ok(windowMs >= least + (isSmall ? 1000 : 0));
          assert.ok(isSmall ? capacity === requests : capacity >= 1 && capacity < requests);
          assert.equal(stepMs, windowMs / capacity);
        },
      ),
    );
  });

  test('300 a minute: 298 in 61.75 s, which is more than 96 %', () => {
    const { capacity, windowMs } = windowOf({ requests: 300, perSeconds: 60 }, {}, 0);
    assert.equal(capacity, 298);
    assert.equal(windowMs, 61_752);
    assert.ok((capacity * 60_000) / windowMs / 300 > 0.965);
  });

  test('2 in 2 s: 2 in 4.75 s, more than the 1 in 3.75 s that holding one back would leave', () => {
    const { capacity, windowMs } = windowOf({ requests: 2, perSeconds: 2 });
    assert.deepEqual([capacity, windowMs], [2, 4752]);
    const held = windowOf({ requests: 2, perSeconds: 2 }, { heldBack: 1 / 150 });
    assert.deepEqual([held.capacity, held.windowMs], [1, 3752]);
  });

  test('of a single request nothing can be held back, and its window is a second longer, too', () => {
    for (const limit of [
      { requests: 1, perSeconds: 2 },
      { requests: 2, perSeconds: 2, share: 0.5 },
    ]) {
      const { capacity, windowMs } = windowOf(limit);
      assert.deepEqual([capacity, windowMs], [1, 4752]);
    }
  });

  test('shares and reserves never add up to more than the limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 1000 }),
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        (requests, tenths, reserve) => {
          const part = (share: number) => windowOf({ requests, perSeconds: 60, share }, {}, reserve);
          const parts = [part(tenths / 10), part(1 - tenths / 10)];
          const sum = parts.reduce((total, one) => total + one.capacity + one.reserve, 0);
          // Of a part below ten requests nothing is held back.
          const isSmall = Math.floor((requests * Math.min(tenths, 10 - tenths)) / 10) < 10;
          assert.ok(isSmall ? sum <= requests : sum < requests);
        },
      ),
    );
  });
});

describe('small limits', () => {
  const asks = fc.array(
    fc.record({
      gap: fc.oneof(fc.nat(50), fc.nat(3000)),
      instance: fc.nat(2),
      wait: fc.constantFrom(0, 100, 2000),
      priority: fc.constantFrom('interactive', 'events', 'background'),
      count: fc.integer({ min: 1, max: 6 }),
      // A permit lives for 50 ms: some are used in time, some too late, and some never.
      useAfter: fc.constantFrom(0, 0, 40, 60, 400, Number.POSITIVE_INFINITY),
      // Of those that ask, so that some freeze while they hold a permit, or on the way to give it back.
      freezeMs: fc.constantFrom(0, 0, 0, 200, 1500, 4000),
      fault: fc.constantFrom(undefined, undefined, undefined, undefined, 'slow', 'silent', 'throttled'),
    }),
    { maxLength: 60 },
  );

  test('no window holds more than the limit, whichever instance asks and when, and whether it uses its permit', async () => {
    await fc.assert(
      fc.asyncProperty(
        asks,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 1000 }),
        async (list, requests, perSeconds, seed) => {
          const clock = new VirtualTime();
          const random = createRandom(seed);
          const store = new SlowStore(clock, random);
          const upstream = new Upstream();
          const frozenUntil = [0, 0, 0];
          const gate = (index: number, run: () => void): unknown =>
            frozenUntil[index]! > clock.now()
              ? clock.after(frozenUntil[index]! - clock.now(), () => gate(index, run))
              : run();
          const limiters = [-100, 0, 100].map((offset, index) =>
            createLimiter({
              store: store.connect({ gate: (run) => gate(index, run), instance: 0 }),
              limits: { small: { requests, perSeconds }, narrow: { requests, perSeconds, within: 'small' } },
              bucket: 'b',
              margins: { clockOffsetMs: 100, networkMs: 0, permitLifeMs: 50, heldBack: 0 },
              keyOf: () => 'k',
              clock: () => Math.floor(clock.now() + offset),
              after: (ms, run) => clock.after(ms, () => gate(index, run)),
              random,
            }),
          );
          let open = 0;
          const hasFaults = list.some(({ fault, freezeMs }) => fault !== undefined || freezeMs > 0);
          for (const { gap, instance, wait, priority, count, useAfter, freezeMs, fault } of list) {
            await clock.pass(gap);
            store.fault = () => fault;
            for (let index = 0; index < count; index++) {
              open++;
              void limiters[instance]!.acquire({
                appKey: 'a',
                limits: index % 2 === 0 ? ['small'] : ['small', 'narrow'],
                priority,
                waitMs: wait,
              }).then((answer) => {
                open--;
                const use = () => {
                  if (answer.ok && answer.permit.consume()) upstream.arrive(clock.now());
                };
                if (useAfter === 0) use();
                else if (Number.isFinite(useAfter)) clock.after(useAfter, () => gate(instance, use));
              });
            }
            if (freezeMs > 0)
              clock.after(gap % 130, () => {
                frozenUntil[instance] = Math.max(frozenUntil[instance]!, clock.now() + freezeMs);
              });
          }
          store.fault = () => undefined;
          await clock.pass(15_000);
          assert.equal(open, 0);
          assert.ok(upstream.worstWindow(perSeconds * 1000) <= requests);
          // The very first request is never refused.
          const isUsed = list[0]?.useAfter === 0 && !hasFaults;
          assert.ok(!isUsed || upstream.arrivals.length > 0);
        },
      ),
      {
        numRuns: 200,
        // Half of a limit of one is no permit: the first request is served all the same.
        examples: [
          [
            [
              {
                gap: 0,
                instance: 0,
                wait: 0,
                priority: 'background',
                count: 1,
                useAfter: 0,
                freezeMs: 0,
                fault: undefined,
              },
            ],
            1,
            3,
            0,
          ],
        ],
      },
    );
  });

  test('what was reserved before the item was spoilt counts against a narrower limit, too', async () => {
    const clock = new VirtualTime();
    const upstream = new Upstream();
    const store = createMemoryLimiterStore();
    const limiter = limiterOn(store, clock, {
      wide: { requests: 20, perSeconds: 10 },
      narrow: { requests: 2, perSeconds: 10, within: 'wide' },
    });
    const askFor = async (ms: number, limits: readonly [string, ...string[]], arrived = () => {}) => {
      for (const end = clock.now() + ms; clock.now() < end; await clock.pass(250))
        void limiter.acquire({ appKey: 'a', limits, waitMs: 2000 }).then((answer) => {
          if (answer.ok && answer.permit.consume()) arrived();
        });
    };
    const narrow = (ms: number) => askFor(ms, ['wide', 'narrow'], () => upstream.arrive(clock.now()));
    // A queue of nearly two seconds.
    await askFor(30_000, ['wide']);
    await narrow(500);
    const spoiltAt = clock.now();
    await spoil(store);
    await narrow(30_000);
    assert.ok(upstream.between(spoiltAt, spoiltAt + 3000) > 0, 'none was reserved');
    assert.ok(upstream.arrivals.length > 4);
    assert.ok(upstream.worstWindow(10_000) <= 2);
  });
});

/** With permits of 50 ms, and nothing held back. */
const limiterOn = (store: LimiterStore, clock: VirtualTime, limits: LimiterOptions['limits']) =>
  createLimiter({
    store,
    limits,
    bucket: 'b',
    margins: { clockOffsetMs: 0, networkMs: 0, permitLifeMs: 50, heldBack: 0 },
    keyOf: () => 'k',
    clock: () => Math.floor(clock.now()),
    after: (ms, run) => clock.after(ms, run),
    random: () => 0.5,
  });

/** The text becomes another version's. */
async function spoil(store: LimiterStore): Promise<void> {
  const item = await store.read('k');
  await store.replace('k', item, { ...item!, revision: 'spoilt', text: '{"version":0}' }, 0);
}

describe('what another version granted', () => {
  const limit = { requests: 20, perSeconds: 10 };
  /** Permits that are had at once. */
  async function take(limiter: Limiter, limits: readonly [string, ...string[]], most = 20): Promise<number> {
    for (let taken = 0; taken < most; taken++) {
      const answer = await limiter.acquire({ appKey: 'a', limits, waitMs: 0 });
      if (!answer.ok) return taken;
    }
    return most;
  }

  test('counts for limits that the instance which wrote over its text does not have', async () => {
    const [clock, store] = [new VirtualTime(), createMemoryLimiterStore()];
    const limits = { wide: limit, slow: { requests: 2, perSeconds: 60, within: 'wide' } };
    const started = clock.now();
    const before = limiterOn(store, clock, limits);
    assert.equal(await take(before, ['wide', 'slow']), 2);
    assert.equal(await take(before, ['wide']), 18);
    await spoil(store);
    await limiterOn(store, clock, { other: limit }).block('a', 'other', 1000);
    for (const [seconds, ...expected] of [
      [0, 0, 0],
      [12, 0, 0],
      [20, 0, 20],
      [59, 0, 20],
      [75, 2, 18],
    ] as const) {
      await clock.pass(started + 1000 * seconds - clock.now());
      const after = limiterOn(store, clock, limits);
      assert.deepEqual([await take(after, ['wide', 'slow']), await take(after, ['wide'])], expected);
    }
  });

  test('under a text that was read counts from when it was granted', async () => {
    const [clock, store] = [new VirtualTime(), createMemoryLimiterStore()];
    const ours = limiterOn(store, clock, { ours: limit });
    assert.equal(await take(ours, ['ours'], 1), 1);
    await spoil(store);
    assert.equal(await take(ours, ['ours']), 0);
    await clock.pass(9000);
    const addition = { counter: 'ours', by: 19, min: 0, max: 1 };
    assert.ok((await store.add('k', 'spoilt', [addition], clock.now())).written);
    await clock.pass(9000);
    assert.equal(await take(ours, ['ours']), 0);
    await clock.pass(20_000);
    assert.equal(await take(ours, ['ours']), 20);
  });
});

describe('the schedule’s text', () => {
  const windows = new Map([['market-data', windowOf({ requests: 300, perSeconds: 60 }, {}, 0)]]);

  test('is read as the schedule that was written, and stays small', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20), fc.nat(3000)), { maxLength: 100 }), (steps) => {
        let now = epoch;
        let schedule: Schedule = renewedSchedule(undefined, {}, now, windows);
        for (const [taken, gap] of steps) {
          now += gap;
          const counters = { 'market-data': taken, 'market-data/now': taken % 2, 'market-data/events': 1 };
          schedule = renewedSchedule(schedule, counters, now, windows);
          assert.deepEqual(readSchedule(scheduleText(schedule)), schedule);
        }
        assert.ok(scheduleText(schedule).length < 4096);
      }),
    );
  });

  test('that is no schedule is not read', () => {
    const text = scheduleText(renewedSchedule(undefined, {}, epoch, windows));
    assert.ok(readSchedule(text));
    for (const wrong of [
      '',
      'null',
      '[]',
      '{}',
      text.slice(0, -1),
      text.replace(/"version":\d+/, '"version":99'),
      text.replace('"due":', '"du":'),
      text.replace(/"due":[\d.]+/, '"due":"now"'),
      text.replace(/"due":[\d.]+/, '"due":-1'),
      text.replace(/"due":[\d.]+/, '"due":1e300'),
      text.replace(/"step":[\d.]+/, '"step":0'),
      text.replace('"log":[]', '"log":[[1,2]]'),
      text.replace('"log":[]', '"log":[[1,2,0.5]]'),
      text.replace('"log":[]', '"log":{}'),
      text.replace('"events":0', '"events":null'),
    ]) {
      assert.notEqual(wrong, text);
      assert.equal(readSchedule(wrong), undefined, wrong);
    }
  });
});

describe('the item’s key', () => {
  test('is the same for the same app key and bucket, and does not show the app key', async () => {
    const key = await limiterKey('prod', 'app-key-1');
    assert.match(key, /^prod#[0-9a-f]{32}$/);
    assert.equal(await limiterKey('prod', 'app-key-1'), key);
    const others = [await limiterKey('prod', 'app-key-2'), await limiterKey('dev', 'app-key-1')];
    assert.equal(new Set([key, ...others]).size, 3);
    assert.ok(!key.includes('app-key'));
  });

  test('is the only one that a limiter writes', async () => {
    const store = createMemoryLimiterStore();
    const keys: string[] = [];
    const limiter = createLimiter({
      store: {
        ...store,
        replace(key, ...rest) {
          keys.push(key);
          return store.replace(key, ...rest);
        },
      },
      limits: { 'market-data': { requests: 300, perSeconds: 60 } },
      bucket: 'prod',
    });
    assert.ok((await limiter.acquire({ appKey: 'app-key-1', limits: ['market-data'] })).ok);
    assert.deepEqual(keys, [await limiterKey('prod', 'app-key-1')]);
  });
});
