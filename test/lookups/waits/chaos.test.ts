/**
 * Two or three functions at work on one queue, while ports fail, hang or are slow, functions die, and the queue
 * gives messages to two at once: no request is lost, and each has one content.
 *
 * One scenario alone, by the seed in its name:
 *
 *     npx vitest run --project waits lookups/chaos -t 'seed 140$'
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { runScenario } from '../chaos/scenario.ts';
import { troubles } from '../chaos/trouble.ts';

beforeAll(() => {
  // The real one computes in threads, which finish when they like: then a seed would not be one scenario.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(
    async (_, data) =>
      Uint8Array.from(
        createHash('sha256')
          .update(data as Uint8Array)
          .digest(),
      ).buffer,
  );
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** Thirty of each kind. What goes wrong only now and then needs that many to be seen. */
const scenarios = 180;
const kinds = Object.entries(troubles);

for (let seed = 1; seed <= scenarios; seed++) {
  const [name, trouble] = kinds[seed % kinds.length]!;
  test(`${name}, seed ${seed}`, async () => {
    assert.deepEqual(await runScenario(seed, trouble), []);
  });
}
