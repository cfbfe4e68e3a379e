/** How priorities share a limit that is too small for all. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { Priority } from '../../../lib/limiter/index.ts';
import { percent } from '../seed.ts';
import { type Demand, World } from '../world/world.ts';

const minute = 60_000;
/** Two windows to begin in, and then those that count. */
const [begin, counted] = [2 * minute, 4 * minute];

interface Served {
  readonly share: (priority: Priority) => number;
  /** Milliseconds that requests of a priority waited which were served. */
  readonly waited: (priority: Priority, quantile: number) => number;
  /** In any window of any of the worlds. */
  readonly worst: number;
  /** The part of the limit that was used. */
  readonly used: number;
}

const lastMinutes = ({ upstream, clock }: World) =>
  upstream.between(clock.now() - counted, clock.now()) / ((300 * counted) / minute);

/** Several worlds, because the chance of one minute has an effect on the next. */
async function serve(instances: number, demands: readonly Demand[], seeds = [21]): Promise<Served> {
  const served: World['served'] = [];
  const worlds: World[] = [];
  for (const seed of seeds) {
    const world = new World({ seed, instances });
    await world.live(begin, demands);
    const from = world.clock.now();
    await world.live(counted, demands);
    served.push(...world.served.filter(({ askedAt }) => askedAt >= from));
    worlds.push(world);
  }
  const of = (priority: Priority) => served.filter((one) => one.priority === priority);
  return {
    worst: Math.max(...worlds.map(({ upstream }) => upstream.worstWindow())),
    used: worlds.reduce((sum, world) => sum + lastMinutes(world), 0) / worlds.length,
    share: (priority) => of(priority).length / served.length,
    waited: (priority, quantile) => {
      const times = of(priority).map(({ waited }) => waited);
      return times.sort((a, b) => a - b)[Math.floor(times.length * quantile)] ?? Number.NaN;
    },
  };
}

const interactive = (perMinute: number) => ({ perMinute });
const events = (perMinute: number) => ({ perMinute, priority: 'events', waitMs: 5000 }) as const;
const background = (perMinute: number) => ({ perMinute, priority: 'background', waitMs: 10_000 }) as const;

for (const instances of [8, 200])
  describe(`double saturation, ${instances} instances`, () => {
    for (const [perMinute, eventsPerMinute] of [
      [240, 360],
      [600, 600],
    ] as const)
      test(`${perMinute} interactive requests a minute do not wait longer because of events`, async () => {
        const seeds = [21, 22];
        const alone = await serve(instances, [interactive(perMinute)], seeds);
        const both = await serve(instances, [interactive(perMinute), events(eventsPerMinute)], seeds);
        const share = both.share('events');
        const waits = [0.5, 0.9].map((quantile) => [
          alone.waited('interactive', quantile),
          both.waited('interactive', quantile),
        ]);
        console.log(
          `  limiter, ${instances} instances, ${perMinute} interactive and ${eventsPerMinute} events a minute: events get ${percent(share)}; ` +
            `interactive p50 and p90 ${waits.map(([before, after]) => `${before!.toFixed(0)} → ${after!.toFixed(0)} ms`).join(', ')}`,
        );
        for (const [before, after] of waits) assert.ok(after! <= before! + 30, `${before} → ${after} ms`);
        assert.ok(share >= 0.05 && share <= 0.2, `events get ${share}`);
        assert.ok(both.worst <= 300);
      });

    test('nothing starves: each has at least its floor', async () => {
      const { share, worst } = await serve(instances, [interactive(600), events(600), background(600)]);
      assert.ok(share('events') >= 0.05 && share('events') <= 0.2, `${share('events')}`);
      assert.ok(share('background') >= 0.01 && share('background') <= 0.05, `${share('background')}`);
      assert.ok(worst <= 300);
    });

    test('events go before background', async () => {
      const { share } = await serve(instances, [events(600), background(600)]);
      assert.ok(share('events') > 0.9);
      assert.ok(share('background') >= 0.01);
    });

    test('a priority that is alone has the whole limit', async () => {
      for (const demand of [events(600), background(600)]) {
        const { used } = await serve(instances, [demand]);
        assert.ok(used > 0.94, `${demand.priority}: ${used}`);
      }
    });
  });

test('interactive requests have the limit back within a window after events used all of it', async () => {
  const world = new World({ seed: 22, instances: 50 });
  await world.live(3 * minute, [events(600)]);
  await world.live(minute, [interactive(100), events(600)]);
  const from = world.clock.now();
  await world.live(3 * minute, [interactive(100), events(600)]);
  const times = world.served.filter((one) => one.priority === 'interactive' && one.askedAt >= from);
  const slow = times.filter(({ waited }) => waited > 100);
  assert.ok(times.length > 200);
  assert.ok(slow.length / times.length < 0.02, `${slow.length} of ${times.length}`);
});
