/** A permit that its instance did not use makes room for another: once, in its own place, and never in that of one that was used. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createLimiter,
  type LimiterOptions,
  type LimiterStore,
  StoreThrottled,
} from '../../lib/limiter/index.ts';
import { windowOf } from '../../lib/limiter/limits.ts';
import { renewedSchedule, returnedCounter } from '../../lib/limiter/schedule.ts';
import { VirtualTime } from '../world/virtual-time.ts';
import { burst } from './bursts.ts';
import { SlowStore, type StoreFault, worldKey } from './world/slow-store.ts';

const limits = {
  wide: { requests: 300, perSeconds: 60 },
  narrow: { requests: 20, perSeconds: 60, within: 'wide' },
};
type Names = readonly ['wide', ...'narrow'[]];

interface InstanceOptions extends Partial<LimiterOptions> {
  /** How far each instance's clock is ahead, in milliseconds. */
  readonly offsets?: readonly number[];
  readonly through?: (store: LimiterStore, instance: number) => LimiterStore;
}

/** Instances on a virtual clock, with a store whose operations fail for one instance or all. */
function instancesOf(
  count: number,
  { offsets = [], through = (store) => store, ...options }: InstanceOptions = {},
) {
  const clock = new VirtualTime();
  const store = new SlowStore(clock, () => 0.5);
  const faults = new Map<number, StoreFault>();
  store.fault = (_, instance) => faults.get(instance);
  let draws = 0;
  const create = (instance: number) =>
    createLimiter({
      store: through(store.connect({ gate: (run) => run(), instance }), instance),
      limits,
      bucket: 'b',
      clock: () => clock.now() + (offsets[instance] ?? 0),
      after: (ms, run) => clock.after(ms, run),
      // Revisions differ.
      random: () => 0.5 + ++draws / 1e6,
      keyOf: () => worldKey,
      ...options,
    });
  const limiters = Array.from({ length: count }, (_, instance) => create(instance));
  const run = <T>(work: Promise<T>): Promise<T> => clock.passUntil(work);
  const answerOf = (index: number, names: Names = ['wide'], waitMs = 0) =>
    run(limiters[index]!.acquire({ appKey: 'k', limits: names, waitMs }));
  const ask = async (index: number, ...names: Names | []) => {
    const answer = await answerOf(index, names.length > 0 ? (names as Names) : undefined);
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.permit;
  };
  return {
    clock,
    store,
    faults,
    ask,
    answerOf,
    use: async (index: number, ...names: Names | []) =>
      assert.equal((await ask(index, ...names)).consume(), true),
    used: (name: keyof typeof limits = 'wide') => run(create(-1).used('k', name)),
    /** Renews the schedule. */
    block: (index: number) => limiters[index]!.block('k', 'wide', 0),
    renew: (index: number) => run(limiters[index]!.block('k', 'wide', 0)),
    pass: (ms: number) => clock.pass(ms),
  };
}

test('an unused permit comes back, and cannot be consumed from then on; one that was consumed stays counted', async () => {
  const { ask, used, pass } = instancesOf(3);
  const permits = [await ask(0), await ask(1), await ask(2)];
  assert.equal(permits[0]!.consume(), true);
  assert.equal(permits[0]!.consume(), false);
  assert.equal(await used(), 3);
  await pass(2000);
  assert.equal(await used(), 1);
  assert.deepEqual(
    permits.map((one) => one.consume()),
    [false, false, false],
  );
  await pass(2000);
  assert.equal(await used(), 1);
});

test('an unused permit comes back although no caller asks whether it may be used', async () => {
  const { ask, used, pass, store } = instancesOf(1);
  for (let nth = 0; nth < 5; nth++) await ask(0);
  const { writes } = store.operations;
  await pass(2000);
  assert.equal(await used(), 0);
  assert.equal(store.operations.writes, writes + 1, 'all in one write');
});

test('an unused permit comes back with the next write of its instance', async () => {
  const { ask, use, used, pass, store } = instancesOf(1);
  await ask(0);
  await pass(300);
  const { writes } = store.operations;
  await use(0);
  assert.equal(store.operations.writes, writes + 1);
  await pass(3000);
  assert.equal(store.operations.writes, writes + 1);
  assert.equal(await used(), 1);
});

describe('an unused permit comes back once', () => {
  const never = new Promise<never>(() => {});

  test('although no instance saw that it did', async () => {
    let isLost = true;
    const { ask, use, used, pass } = instancesOf(2, {
      through: (store, instance) => ({
        ...store,
        async add(...args) {
          const answer = await store.add(...args);
          return instance === 0 && isLost ? never : answer;
        },
      }),
    });
    await ask(0);
    await use(1);
    await pass(2000);
    assert.equal(await used(), 1);
    isLost = false;
    await pass(4000);
    await use(0);
    await pass(4000);
    assert.equal(await used(), 2);
  });

  test('although no instance saw the renewal that took it out of the log', async () => {
    let isLost = false;
    const { ask, use, used, answerOf, pass } = instancesOf(2, {
      through: (store, instance) => ({
        ...store,
        async replace(...args) {
          const answer = await store.replace(...args);
          return instance === 0 && isLost ? never : answer;
        },
      }),
    });
    await use(1);
    await pass(900);
    await ask(0);
    await pass(600);
    isLost = true;
    // After the immediate phase: the permit that is taken with this renewal stays counted.
    assert.equal((await answerOf(0)).ok, false);
    isLost = false;
    await pass(4000);
    assert.equal(await used(), 2);
  });

  test('and later where the store refused the write; where the store never answered, it stays counted', async () => {
    for (const [lost, left] of [
      [() => Promise.reject(new StoreThrottled()), 0],
      [() => never, 1],
    ] as const) {
      let isLost = true;
      const { ask, used, pass } = instancesOf(1, {
        through: (store) => ({ ...store, add: (...args) => (isLost ? lost() : store.add(...args)) }),
      });
      await ask(0);
      await pass(1600);
      isLost = false;
      await pass(4000);
      assert.equal(await used(), left);
    }
  });

  test('and later where another instance renewed the schedule at that moment', async () => {
    let meanwhile: (() => Promise<void>) | undefined;
    const { ask, used, pass, block } = instancesOf(2, {
      through: (store, instance) => ({
        ...store,
        async add(...args) {
          const renew = instance === 0 && args[2].every(({ counter }) => counter.endsWith('/returned'));
          if (renew) await meanwhile?.();
          return store.add(...args);
        },
      }),
    });
    await ask(0);
    meanwhile = () => {
      meanwhile = undefined;
      return block(1);
    };
    await pass(4000);
    assert.equal(meanwhile, undefined);
    assert.equal(await used(), 0);
  });
});

describe('an unused permit that comes back takes no other one with it', () => {
  test('when it comes back so late that it has left the log', async () => {
    const { ask, use, used, pass, faults } = instancesOf(2);
    await ask(0);
    faults.set(0, 'throttled');
    await pass(65_000);
    await use(1);
    faults.clear();
    await pass(5000);
    assert.equal(await used(), 1);
  });

  test('when it is the one that leaves the window before the schedule is renewed', async () => {
    const { ask, use, used, pass, faults } = instancesOf(2);
    await ask(0);
    faults.set(0, 'throttled');
    await pass(3000);
    await use(1);
    faults.clear();
    await pass(4000);
    const { windowMs } = windowOf(limits.wide);
    await pass(windowMs - 6000);
    assert.equal(await used(), 1);
  });

  test('when its instance has a clock that is ahead of those of others', async () => {
    const { ask, use, used, pass, renew, faults } = instancesOf(3, { offsets: [400, -500, -500] });
    await use(1);
    await use(2);
    await ask(0);
    // Instances that have not read its time write and renew: they count the permit nearly a second before its own time.
    await use(2);
    await renew(1);
    faults.set(0, 'throttled');
    await pass(5000);
    await use(2);
    faults.clear();
    await pass(5000);
    // The first ones have left the window, and the last one has not.
    await pass(windowOf(limits.wide).windowMs - 8000);
    assert.equal(await used(), 1);
  });

  test('when a version that does not know returned permits renews the schedule', async () => {
    const { ask, use, used, pass } = instancesOf(2, {
      through: (store) => ({
        ...store,
        replace(key, expected, next, expiresAt) {
          const known = Object.entries(next.counters).filter(([name]) => !name.endsWith('/returned'));
          return store.replace(key, expected, { ...next, counters: Object.fromEntries(known) }, expiresAt);
        },
      }),
    });
    await ask(0);
    await use(1);
    await pass(5000);
    assert.equal(await used(), 2);
    await use(0);
    assert.equal(await used(), 3);
  });

  test('when it is of the reserve, which no item counts', async () => {
    const { ask, use, used, pass, faults } = instancesOf(2, { reserve: { instances: 1, part: 0.5 } });
    await pass(100_000);
    faults.set(0, 'unavailable');
    await ask(0);
    faults.clear();
    await use(1);
    await pass(8000);
    await use(0);
    assert.equal(await used(), 2);
  });

  test('when it is of a limit that was blocked, by an instance that is not configured with it', () => {
    const now = Date.UTC(2026, 10, 17);
    const windows = new Map(Object.entries(limits).map(([name, one]) => [name, windowOf(one)]));
    const first = renewedSchedule(undefined, {}, now, windows);
    const wide = { ...first.limits.wide!, blockedUntil: now + 60_000, due: now + 60_000 };
    const counters = { wide: 3, 'wide/now': 3, [returnedCounter('wide')]: 3 };
    const next = renewedSchedule({ ...first, limits: { wide } }, counters, now + 1000, new Map());
    assert.equal(next.limits.wide?.due, now + 60_000);
  });
});

test('an unused permit makes room under a narrower limit, too, and after other instances have renewed the schedule', async () => {
  const { ask, use, used, answerOf, renew, pass } = instancesOf(2);
  for (let nth = 0; nth < 19; nth++) await ask(0, 'wide', 'narrow');
  assert.equal((await answerOf(1, ['wide', 'narrow'])).ok, false);
  await renew(1);
  await pass(3000);
  assert.equal(await used('narrow'), 0);
  assert.equal(await used(), 0);
  for (let nth = 0; nth < 3; nth++) await use(1, 'wide', 'narrow');
  assert.equal(await used('narrow'), 3);
});

test('a permit whose grant arrives too late, or for which no request waits any more, comes back, too', async () => {
  // Longer than a permit's life, and within the limiter's time limit.
  let lateMs = 400;
  const late = async <T>(answer: Promise<T>): Promise<T> => {
    const value = await answer;
    await new Promise<void>((resolve) => clock.after(lateMs, resolve));
    return value;
  };
  const through = (store: LimiterStore): LimiterStore => ({
    read: (key) => late(store.read(key)),
    add: (...given) => late(store.add(...given)),
    replace: (...given) => late(store.replace(...given)),
  });
  const { clock, answerOf, used, pass } = instancesOf(1, { through });
  assert.equal((await answerOf(0)).ok, false);
  lateMs = 0;
  await pass(4000);
  assert.equal(await used(), 0);
});

test('while an unused permit may come back, instances ask again before the next one leaves the window', async () => {
  const { ask, use, answerOf, pass } = instancesOf(2, { limits: { wide: { requests: 20, perSeconds: 60 } } });
  for (let nth = 0; nth < 19; nth++) await ask(0);
  assert.equal((await answerOf(1)).ok, false);
  await pass(2400);
  await use(1);
});

test('a request that is refused by a limit to which no permit comes back does not wait, whatever other requests are granted', async () => {
  const { clock, answerOf, use, pass } = instancesOf(2);
  for (let nth = 0; nth < 19; nth++) await use(0, 'wide', 'narrow');
  await pass(4000);
  for (let nth = 0; nth < 10; nth++) {
    await use(1);
    const askedAt = clock.now();
    const answer = await answerOf(0, ['wide', 'narrow'], 2000);
    assert.ok(!answer.ok && clock.now() - askedAt < 100, JSON.stringify(answer));
    await pass(200);
  }
});

test('a few permits that come back are granted within seconds, although the schedule was renewed while the window was full', async () => {
  const { ask, use, answerOf, renew, pass } = instancesOf(2, {
    limits: { wide: { requests: 20, perSeconds: 60 } },
  });
  for (let nth = 0; nth < 14; nth++) await use(0);
  for (let nth = 0; nth < 5; nth++) await ask(0);
  await renew(1);
  await pass(4000);
  const answer = await answerOf(1, ['wide'], 2000);
  assert.ok(answer.ok && answer.permit.consume(), JSON.stringify(answer));
});

for (const [callers, withinMs, instances] of [
  [500, 500, 500],
  [500, 50, 60],
  [1000, 1000, 1000],
] as const)
  test(`after ${callers} callers met ${instances} cold instances with slow connections, nine tenths of a window are used within its minute`, async () => {
    const result = await burst(callers, withinMs, { seed: 63, instances });
    assert.ok(result.used >= 0.9, `${result.used} of the window`);
    assert.ok(result.worst <= 300, `${result.worst} in one window`);
    // Of which 298 take permits, as many as 300 take others in their place, and as many give those back.
    assert.ok(
      result.writes + result.throttled < 1500,
      `${result.writes} writes, ${result.throttled} more throttled`,
    );
  });
