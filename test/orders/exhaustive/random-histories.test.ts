/** Random histories over fifty instances: no order is doubled or lost, and no word about one is untrue. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createHandOver } from '../../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement } from '../../../lib/orders/index.ts';
import { liveHistories } from '../model/random-histories.ts';

test('2,000 random histories: doubled, lost, misreported 0', async () => {
  const { findings, figures } = await liveHistories(2000, {
    createHandOver,
    createMemoryOrderJournal,
    createSettlement,
  });
  assert.deepEqual(findings, []);
  console.log(JSON.stringify(figures));
  // Without misfortune nothing would be proved.
  assert.ok(figures.requests > 2 * figures.histories && figures.unknowns > 500, JSON.stringify(figures));
});
