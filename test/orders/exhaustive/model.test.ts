/**
 * Every interleaving of a small model: two instances, two equal requests and a different one, with each fault of the journal,
 * the upstream and the instances at each step. No order is doubled or lost, and no word about one is untrue.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createHandOver } from '../../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal, createSettlement } from '../../../lib/orders/index.ts';
import { explore } from '../model/explore.ts';
import { smallScenarios } from '../model/scenarios.ts';

describe('every interleaving: doubled, lost, misreported 0', () => {
  test.each(smallScenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    async (_, scenario) => {
      const explored = await explore(scenario, {
        createHandOver,
        createMemoryOrderJournal,
        createSettlement,
      });
      assert.deepEqual(explored.findings, []);
      assert.ok(explored.isComplete);
      console.log(`${scenario.name}: ${explored.states} states, ${explored.histories} histories`);
    },
  );
});
