/** A part of `store-loss-study.ts`, and random combinations of failures. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { faultOf, type Loss, loseStore } from '../store-loss.ts';
import { World } from '../world/world.ts';

const minute = 60_000;

describe('the store is lost for a minute while instances are replaced', () => {
  for (const [loss, instances, part, min, max] of [
    // Permits that were reserved before are used in the first two seconds: 10 of 300.
    ['lost for all', 200, 0, 0, 0.05],
    ['lost for half', 200, 0, 0.3, 1],
    ['lost for all', 20, 0.1, 0.06, 0.12],
    [0.5, 200, 0, 0.3, 1],
    [1, 20, 0.1, 0, 0.05],
  ] as const satisfies readonly (readonly [Loss, number, number, number, number])[])
    test(`${typeof loss === 'number' ? `throttled ${loss}` : loss}, ${instances} instances, a reserve of ${part}`, async () => {
      const { worst, used, usedAfter } = await loseStore({ seed: 61, instances, loss, minutes: 1, part });
      assert.ok(worst <= 300, `${worst} in one window`);
      assert.ok(used >= min && used <= max, `${used} of the limit meanwhile`);
      // The reserve is not in the store.
      assert.ok(usedAfter > 0.9 * (1 - part), `${usedAfter} of the limit afterwards`);
    });
});

test('no window holds more than the limit, whatever fails, for whichever instances, and whichever are replaced', async () => {
  const phase = fc.record({
    loss: fc.constantFrom<Loss>('lost for all', 'lost for half', 0.5, 0),
    seconds: fc.integer({ min: 1, max: 120 }),
    perMinute: fc.constantFrom(0, 300, 3000),
    killed: fc.boolean(),
  });
  let sentWithout = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(phase, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom(0, 0.1, 0.5, 0.9),
      fc.nat(1000),
      async (phases, instances, part, seed) => {
        const reserve = { instances, part };
        const world = new World({
          seed,
          instances,
          extreme: true,
          killsPerMinute: 10,
          limiter: { reserve },
        });
        await world.clock.pass(92_000);
        for (const { loss, seconds, perMinute, killed } of phases) {
          world.store.fault = faultOf(loss, world.random);
          if (killed) world.replaceAll();
          const before = world.counts.sent;
          await world.live(seconds * 1000, [{ perMinute }]);
          if (loss === 'lost for all') sentWithout += world.counts.sent - before;
        }
        await world.clock.pass(5000);
        const worst = world.upstream.worstWindow();
        assert.ok(worst <= 300, `${worst} in one window`);
      },
    ),
    { numRuns: 15, seed: 14 },
  );
  assert.ok(sentWithout > 100, `${sentWithout} sent without the store`);
});

test('the count of a window exceeds the limit when there are more instances than configured', async () => {
  const world = new World({
    seed: 62,
    instances: 60,
    limiter: { reserve: { instances: 20, part: 0.5 } },
  });
  await world.clock.pass(92_000);
  world.store.fault = () => 'unavailable';
  await world.live(2 * minute, [{ perMinute: 3000 }]);
  assert.ok(world.upstream.worstWindow() > 300);
});
