/**
 * The limit on a virtual clock, with the code that runs in production: a part of the study (`npm run study` is
 * the whole), how many permits can be used at once, how even they are, what they cost, and that these tests
 * can fail.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { percent, runSeed } from '../seed.ts';
import { perPermit, World } from '../world/world.ts';

const minute = 60_000;

describe('never 301 in any true window of 60 s, for 200 instances', () => {
  for (const [seed, accidents] of [
    [101, false],
    [102, true],
    [103, true],
    [104, false],
  ] as const)
    test(`seed ${seed}${accidents ? ', with freezes and kills' : ''}`, async () => {
      const result = await runSeed({ seed, permits: 4000, accidents, saturatedMinutes: 3 });
      assert.ok(result.sent >= 4000);
      assert.ok(result.worst <= 300, `${result.worst} in one window`);
      if (accidents) assert.ok(result.frozen > 0 && result.killed > 0 && result.expired > 0);
      assert.ok(result.utilisation.length > 0);
      for (const part of result.utilisation) assert.ok(accidents || part >= 0.96, percent(part));
      console.log(
        `  limiter, seed ${seed}: ${result.sent} permits, worst window ${result.worst}, ` +
          `saturated ${result.utilisation.map(percent).join(', ')}${accidents ? ' with freezes and kills' : ''}`,
      );
    });
});

describe('the count of a window exceeds the limit when', () => {
  const saturated = { perMinute: 1200 };

  test('the margins for clocks and network are left out', async () => {
    const margins = { clockOffsetMs: 0, networkMs: 0, heldBack: 0 };
    const world = new World({ seed: 5, instances: 200, extreme: true, limiter: { margins } });
    await world.live(5 * minute, [saturated]);
    assert.ok(world.upstream.worstWindow() > 300);
  });

  for (const careless of [false, true])
    test(`frozen instances wake: they ${careless ? 'send with expired permits' : 'check their permits first'}`, async () => {
      const world = new World({ seed: 6, instances: 10, careless });
      for (let index = 0; index < 298; index++) void world.request();
      const frozen = world.instances;
      await world.clock.pass(20);
      for (const instance of frozen) instance.freeze(64_000);
      world.add(10);
      await world.clock.pass(64_500);
      for (let index = 0; index < 298; index++) void world.request({}, 10 + (index % 10));
      await world.clock.pass(5000);
      assert.equal(world.upstream.worstWindow() > 300, careless);
    });
});

describe('after idling', () => {
  for (const instances of [1, 200])
    test(`at least 295 can be used at once, by ${instances} instances, and again a minute later`, async () => {
      const world = new World({ seed: 7, instances });
      for (let round = 0; round < 3; round++) {
        const from = world.clock.now();
        for (let index = 0; index < 400; index++) void world.request({ waitMs: 500 });
        await world.clock.pass(from - world.clock.now() + 1500);
        const atOnce = world.upstream.between(from, from + 1500);
        assert.ok(atOnce >= 295, `${atOnce} at once`);
        await world.clock.pass(from - world.clock.now() + 64_000);
      }
      assert.ok(world.upstream.worstWindow() <= 300);
    });
});

describe('under constant demand', () => {
  test('permits are evenly spaced, from the first minute on', async () => {
    const world = new World({ seed: 8, instances: 200, networkMs: 0, offsetMs: 0 });
    const from = world.clock.now();
    await world.live(5 * minute, [{ perMinute: 600 }]);
    const gap = world.upstream.longestGap(from, world.clock.now());
    assert.ok(gap < 1000, `${gap} ms without any`);
    for (let second = 10; second < 300; second += 5) {
      const inFive = world.upstream.between(from + second * 1000, from + (second + 5) * 1000);
      assert.ok(inFive <= 35, `${inFive} in the five seconds from ${second} s on`);
    }
  });

  test('after a burst of everything the next minute is even too', async () => {
    const world = new World({ seed: 9, instances: 200, networkMs: 0 });
    const from = world.clock.now();
    for (let index = 0; index < 400; index++) void world.request();
    await world.live(5 * minute, [{ perMinute: 600 }]);
    const gap = world.upstream.longestGap(from + 64_000, world.clock.now());
    assert.ok(gap < 1500, `${gap} ms without any`);
  });
});

describe('store operations for each permit', () => {
  for (const [label, instances, perMinute, max] of [
    ['one instance, some demand', 1, 60, 1.2],
    ['one instance, double demand', 1, 600, 1.1],
    ['8 instances, double demand', 8, 600, 3],
    ['8 instances, hundredfold demand', 8, 30_000, 2],
    ['200 instances, half the demand', 200, 150, 2.5],
    ['200 instances, double demand', 200, 600, 4],
    ['200 instances, hundredfold demand', 200, 30_000, 15],
  ] as const)
    test(label, async () => {
      const world = new World({ seed: 10, instances });
      const lasts = perMinute > 600 ? minute : 2 * minute;
      await world.live(lasts, [{ perMinute }]);
      const { operations, counts, clock, upstream } = world;
      const from = clock.now();
      const before = { ...operations, sent: counts.sent };
      await world.live(lasts, [{ perMinute }]);
      const sent = counts.sent - before.sent;
      const reads = operations.reads - before.reads;
      const writes = operations.writes - before.writes;
      const refused = operations.refused - before.refused;
      console.log(
        `  limiter, ${label}: ${perPermit(reads + writes, sent)} operations a permit ` +
          `(${perPermit(reads, sent)} reads, ${perPermit(writes, sent)} writes, ${perPermit(refused, sent)} of them refused), ` +
          `${percent(upstream.between(from, clock.now()) / ((300 * lasts) / minute))} used`,
      );
      assert.ok((reads + writes) / sent < max);
      assert.ok(refused / sent < 2.5);
    });
});

describe('the residual risk: a freeze between the last check and the socket', () => {
  test('is covered by what is held back and by the even pace', async () => {
    const world = new World({ seed: 11, instances: 50, lateFreezes: 0.005 });
    await world.live(20 * minute, [{ perMinute: 600 }]);
    const { lateFreezes, sent } = world.counts;
    const worst = world.upstream.worstWindow();
    console.log(
      `  limiter, ${lateFreezes} of ${sent} requests frozen before the socket: worst window ${worst}`,
    );
    assert.ok(lateFreezes > 20);
    assert.ok(worst <= 300);
  });

  test('two of them after a burst of everything', async () => {
    // The worst case: a full window, and two late requests of the window before.
    const world = new World({ seed: 12, instances: 20, networkMs: 0, offsetMs: 0 });
    for (let index = 0; index < 298; index++) void world.request();
    await world.clock.pass(64_000);
    for (let index = 0; index < 400; index++) void world.request();
    await world.clock.pass(3000);
    world.upstream.arrive(world.clock.now());
    world.upstream.arrive(world.clock.now());
    assert.equal(world.upstream.worstWindow(), 300);
  });
});
