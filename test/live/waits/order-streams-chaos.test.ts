/** Listeners die, stores fail, clients come and go: each has every event of its accounts, and none of another’s. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'vitest';
import { useSynchronousCrypto } from '../../trade-events/world/synchronous-crypto.ts';
import { runOrderStreams } from '../order-streams-chaos.ts';

beforeEach(useSynchronousCrypto);

for (const [name, options] of Object.entries({
  'listeners die': { kills: 0.4 },
  'the stores fail, before or after their effect': { storeFaults: 0.3, kills: 0.1 },
  'clocks differ, listeners freeze and everything else': {
    clockOffMs: 30_000,
    kills: 0.2,
    freezes: 0.2,
    streamFaults: 0.2,
    storeFaults: 0.2,
    busRefusals: 0.2,
  },
}))
  for (const seed of [1, 2])
    test(`${name} (${seed})`, async () => {
      const { delaysMs, ...tally } = await runOrderStreams({ minutes: 15, ...options, seed });
      assert.deepEqual([tally.missing, tally.invented, tally.foreign], [0, 0, 0], JSON.stringify(tally));
      assert.ok(
        tally.events > 100 && tally.connections > 50 && delaysMs.length > 30,
        `${delaysMs.length} ${JSON.stringify(tally)}`,
      );
    });
