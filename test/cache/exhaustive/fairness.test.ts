/** Ten seconds of a greedy reader; `npm run study -- fairness` has minutes, and the other cases. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { studyFairness } from '../fairness-study.ts';

for (const [index, whose] of [
  ['0', 'another network'],
  ['3', 'another address of the same network'],
] as const)
  test(`a greedy reader leaves its share to a neighbour with ${whose}`, async () =>
    assert.ok(await studyFairness([index], 10)));
