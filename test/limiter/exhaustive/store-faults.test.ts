/** The limiter when its store fails: nothing is sent, no request hangs, and it recovers by itself. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { PermitAnswer } from '../../../lib/limiter/index.ts';
import type { StoreFault } from '../world/slow-store.ts';
import { World, type WorldOptions } from '../world/world.ts';

const minute = 60_000;
const instances = 20;

const worldFor = (options: Partial<WorldOptions> = {}) => new World({ seed: 31, instances, ...options });

/** Instances older than a window and a request, after which each may use its part of the reserve. */
const aged = (world: World) => world.clock.pass(92_000);

const faults = [
  'silent',
  'throttled',
  'unavailable',
  'slow',
  'invalid',
] as const satisfies readonly StoreFault[];

for (const fault of faults)
  describe(`a store that is ${fault} for five minutes`, () => {
    test('stops every request, and is used again afterwards', async () => {
      const world = worldFor();
      world.keepReports();
      await world.live(2000, [{ perMinute: 600 }]);
      const down = world.clock.now();
      world.store.fault = () => fault;
      await world.live(5 * minute, [{ perMinute: 600 }]);
      // A request with a permit is on its way for half a second; one with a reserved permit for two more.
      assert.equal(world.upstream.between(down + 3500, world.clock.now()), 0);

      world.store.fault = () => undefined;
      await world.live(3 * minute, [{ perMinute: 600 }]);
      const from = world.clock.now();
      await world.live(2 * minute, [{ perMinute: 600 }]);
      const used = world.upstream.between(from, world.clock.now()) / 600;
      assert.ok(used > 0.96, `${used} of the limit is used again`);
      assert.ok(world.upstream.worstWindow() <= 300, `${world.upstream.worstWindow()} in one window`);
      const kinds = new Set(world.reports.map(({ kind }) => kind));
      const failed = fault === 'throttled' ? 'store_busy' : 'store_unavailable';
      assert.ok(kinds.has(failed) && kinds.has('store_recovered'));
    });

    test('leaves no request waiting: each is answered in its time, and told when to try again', async () => {
      const world = worldFor();
      await world.live(5000, [{ perMinute: 600 }]);
      world.store.fault = () => fault;
      const answers: { readonly answer: PermitAnswer; readonly after: number }[] = [];
      for (let index = 0; index < 500; index++) {
        const asked = world.clock.now();
        void world
          .request({ waitMs: 1000 })
          .then((answer) => answers.push({ answer, after: world.clock.now() - asked }));
        await world.clock.pass(100);
      }
      await world.clock.pass(2000);
      assert.equal(answers.length, 500);
      for (const { answer, after } of answers) {
        assert.ok(after <= 1600, `${after} ms`);
        if (!answer.ok) assert.ok(answer.retryAfterMs > 0 && answer.retryAfterMs < 20_000);
      }
      const refused = answers.flatMap(({ answer }) => (answer.ok ? [] : [answer]));
      const reason = fault === 'throttled' ? 'store_busy' : 'store_unavailable';
      assert.ok(refused.filter((one) => one.reason === reason).length > 300);
      // Spread: the times of the next attempts are not all in the same second.
      const seconds = new Set(refused.map(({ retryAfterMs }) => Math.ceil(retryAfterMs / 1000)));
      assert.ok(seconds.size >= 4, [...seconds].join());
    });

    test('is not stampeded: failing instances leave it alone for longer and longer', async () => {
      const world = worldFor();
      world.store.fault = () => fault;
      await world.live(minute, [{ perMinute: 6000 }]);
      const { reads, writes, failed } = world.operations;
      const each = (reads + writes + failed) / instances;
      assert.ok(each < 40, `${each} operations of each instance in a minute`);
    });
  });

describe('the reserve', () => {
  // 30 of the limit for 20 instances: one each.
  const reserve = { instances, part: 0.1 };

  test('is available from the first failure on, and is never in the store', async () => {
    const world = worldFor({ limiter: { reserve } });
    await aged(world);
    for (let index = 0; index < 298; index++) void world.request();
    await world.live(1000, [{ perMinute: 600 }]);
    assert.ok(world.upstream.worstWindow() <= 270);
    const down = world.clock.now();
    world.store.fault = () => 'silent';
    await world.live(50_000, [{ perMinute: 600 }]);
    const early = world.upstream.between(down + 1000, world.clock.now());
    assert.ok(early > 10 && early <= instances, `${early} at once`);
    await world.live(5 * minute, [{ perMinute: 600 }]);
    const later = world.upstream.between(down + 2 * minute, world.clock.now());
    assert.ok(later > 2.5 * instances && later <= 5 * instances, `${later} in four minutes`);
    assert.ok(world.upstream.worstWindow() <= 300);
  });

  test('is not used because the store is busy', async () => {
    const world = worldFor({ limiter: { reserve } });
    await aged(world);
    world.store.fault = () => 'throttled';
    await world.live(3 * minute, [{ perMinute: 600 }]);
    assert.equal(world.counts.sent, 0);
    assert.ok(world.counts.refused > 1000);
  });

  test('is not used by an instance that is younger than a window and a request', async () => {
    const world = worldFor({ limiter: { reserve } });
    const from = world.clock.now();
    world.store.fault = () => 'unavailable';
    await world.live(3 * minute, [{ perMinute: 600 }]);
    assert.ok(world.upstream.arrivals[0]! > from + 91_000);
    assert.ok(world.counts.sent >= instances);
  });

  test('is empty where it cannot be divided', async () => {
    const world = worldFor({ limiter: { reserve: { instances: 31, part: 0.1 } } });
    await aged(world);
    world.store.fault = () => 'unavailable';
    await world.live(3 * minute, [{ perMinute: 600 }]);
    assert.equal(world.counts.sent, 0);
  });

  test('needs a number of instances', () => {
    for (const wrong of [0, 1.5, Number.NaN, -1])
      assert.throws(() => worldFor({ limiter: { reserve: { instances: wrong, part: 0.1 } } }), RangeError);
  });
});

describe('failures of some operations', () => {
  for (const [share, min] of [
    [0.2, 0.9],
    [0.5, 0.7],
    [0.9, 0.02],
  ] as const)
    test(`${share * 100} % throttled: the limit holds and no instance is cut off`, async () => {
      const world = worldFor();
      world.store.fault = () => (world.random() < share ? 'throttled' : undefined);
      await world.live(10 * minute, [{ perMinute: 600 }]);
      const used = world.counts.sent / 3000;
      console.log(
        `  limiter, ${share * 100} % of the store's operations throttled: ${(100 * used).toFixed(1)} % used`,
      );
      assert.ok(world.upstream.worstWindow() <= 300);
      assert.ok(used > min);
    });

  test('a store that comes and goes: the limit holds', async () => {
    for (let seed = 40; seed < 46; seed++) {
      const world = worldFor({ seed, limiter: { reserve: { instances, part: 0.1 } } });
      const phases = [...faults, undefined, undefined];
      for (let phase = 0; phase < 15; phase++) {
        const fault = phases[Math.floor(world.random() * phases.length)];
        world.store.fault = () => fault;
        await world.live(world.random() * 2 * minute, [{ perMinute: 100 + world.random() * 2000 }]);
      }
      const worst = world.upstream.worstWindow();
      assert.ok(worst <= 300, `seed ${seed}: ${worst}`);
    }
  });
});

test('an item that cannot be read counts as a full window, and a window later all is well', async () => {
  const world = worldFor();
  await world.live(5000, [{ perMinute: 600 }]);
  await world.store.spoil();
  const from = world.clock.now();
  await world.live(minute, [{ perMinute: 600 }]);
  assert.ok(world.upstream.between(from + 5000, world.clock.now()) === 0);
  await world.live(2 * minute, [{ perMinute: 600 }]);
  assert.ok(world.upstream.between(from + 1.2 * minute, world.clock.now()) > 0.9 * 1.8 * 288);
});
