/** The limit in brief, for two hundred instances that freeze and die: `limit.test.ts` and the study have the rest. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { runSeed } from './seed.ts';

test('never 301 in any true window of 60 s', async () => {
  const { sent, worst, frozen, killed } = await runSeed({ seed: 102, permits: 3000, accidents: true });
  assert.ok(sent >= 3000 && frozen > 0 && killed > 0);
  assert.ok(worst <= 300, `${worst} in one window`);
});
