/** The limit in brief, for instances that freeze, die and lose their store: `limit`, `store-loss` and the study have the rest. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { burst } from '../bursts.ts';
import { runSeed } from '../seed.ts';
import { loseStore } from '../store-loss.ts';

test('no true window of 60 s holds 301 requests', async () => {
  const { sent, worst, frozen, killed } = await runSeed({ seed: 102, permits: 3000, accidents: true });
  assert.ok(sent >= 3000 && frozen > 0 && killed > 0);
  assert.ok(worst <= 300, `${worst} in one window`);
});

for (const accidents of [false, true])
  test(`after 500 callers met cold instances at once${accidents ? ', which freeze and die' : ''}, nine tenths of a window are used within its minute`, async () => {
    const result = await burst(500, 500, {
      seed: 63,
      extreme: true,
      ...(accidents && { freezesPerMinute: 600, killsPerMinute: 120 }),
    });
    assert.ok(result.expired > 200, `${result.expired} expired`);
    assert.ok(result.used >= 0.9, `${result.used} of the window`);
    assert.ok(result.worst <= 300, `${result.worst} in one window`);
    assert.ok(result.writes < 2000, `${result.writes} writes`);
  });

for (const loss of ['lost for half', 'lost for all'] as const)
  test(`no true window of 60 s holds 301 requests while the store is ${loss} of the instances, which use most of the limit as their reserve`, async () => {
    const { worst, used } = await loseStore({ seed: 62, instances: 20, loss, minutes: 2, part: 0.9 });
    assert.ok(used > 0.2, `${used} of the limit meanwhile`);
    assert.ok(worst <= 300, `${worst} in one window`);
  });
