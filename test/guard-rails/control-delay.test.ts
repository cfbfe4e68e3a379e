/** Limits are lowered, and trading is stopped, while twenty warm instances place orders without a pause. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { maxControlAgeMs } from '../../lib/guard-rails/index.ts';
import { changes, measureDelay, situations } from './control-delay-study.ts';

describe.each(changes)('%s while orders run', (change) => {
  test.each(Object.entries(situations))(
    '%s: nothing leaves later than five seconds after it',
    async (name, situation) => {
      const figures = await measureDelay({ change, ...situation, seed: 7 });
      const { lastAfterMs, late, allowed, blocked, unavailable } = figures;
      // Instances know it by what they read: an order that none of them sent in between would show nothing.
      assert.ok(late > 0 && lastAfterMs !== undefined, JSON.stringify(figures));
      assert.ok(lastAfterMs <= maxControlAgeMs, JSON.stringify(figures));
      assert.equal(allowed > 0, change === 'a lowered limit');
      assert.equal(blocked > 0, !situation.isAway);
      assert.equal(unavailable > 0, situation.isAway);
      console.log(`${change}, ${name}: the last order left ${Math.round(lastAfterMs)} ms after it`);
    },
  );
});

test('at each pace of the orders, with the store and without it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        change: fc.constantFrom(...changes),
        everyMs: fc.integer({ min: 300, max: 12_000 }),
        isAway: fc.boolean(),
        instances: fc.integer({ min: 1, max: 5 }),
        seed: fc.integer(),
      }),
      async (options) => {
        const { lastAfterMs = 0 } = await measureDelay(options);
        assert.ok(lastAfterMs <= maxControlAgeMs, `${lastAfterMs}`);
      },
    ),
    { numRuns: 20 },
  );
});
