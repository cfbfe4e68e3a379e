/** Which limits an operation counts against, where another one says it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { limitsOf, operationLimitsFault } from '../../lib/gateway/limits/operation-limits.ts';

test('a stream counts against the limits of what it follows, and takes those that a deployer sets for its group', () => {
  const followers = liveOperations.filter(({ follows }) => follows);
  const mine = { for: ['market-data'], requests: 100, perSeconds: 60, within: 'market-data' } as const;
  for (const upstreamLimits of ['interface', 'published', 'published-sandbox'] as const)
    for (const operationLimits of [{}, { mine }])
      for (const stream of followers) {
        const names = limitsOf(stream, { operationLimits, upstreamLimits });
        assert.ok(names);
        assert.deepEqual(names, limitsOf(getStockSnapshots, { operationLimits, upstreamLimits }));
      }
  assert.equal(operationLimitsFault({ mine }, [...followers, getStockSnapshots]), undefined);
});
