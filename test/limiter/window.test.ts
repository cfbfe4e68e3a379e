/** The limit in brief, for instances that freeze, die and lose their store: `limit`, `store-loss` and the study have the rest. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { runSeed } from './seed.ts';
import { loseStore } from './store-loss.ts';

test('never 301 in any true window of 60 s', async () => {
  const { sent, worst, frozen, killed } = await runSeed({ seed: 102, permits: 3000, accidents: true });
  assert.ok(sent >= 3000 && frozen > 0 && killed > 0);
  assert.ok(worst <= 300, `${worst} in one window`);
});

for (const loss of ['lost for half', 'lost for all'] as const)
  test(`nor while the store is ${loss} of the instances, which use most of the limit as their reserve`, async () => {
    const { worst, used } = await loseStore({ seed: 62, instances: 20, loss, minutes: 2, part: 0.9 });
    assert.ok(used > 0.2, `${used} of the limit meanwhile`);
    assert.ok(worst <= 300, `${worst} in one window`);
  });
