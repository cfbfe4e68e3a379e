/** Listeners die, streams break, messages come again: each change of the book that could be seen is on the bus, under one id. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { beforeEach, describe, test } from 'vitest';
import { type ChaosOptions, runChaos } from '../world/chaos.ts';
import { checkBus } from '../world/checks.ts';
import { useSynchronousCrypto } from '../world/synchronous-crypto.ts';

beforeEach(useSynchronousCrypto);

const worlds: Readonly<Record<string, Omit<ChaosOptions, 'seed'>>> = {
  'nothing goes wrong but hand-overs': { minutes: 20 },
  'listeners die between any two steps': { minutes: 20, kills: 0.4 },
  'streams drop, expire, go mute or silent, and repeat': { minutes: 20, streamFaults: 0.4 },
  'the store fails, before or after its effect': { minutes: 20, storeFaults: 0.3, kills: 0.1 },
  'the bus refuses entries, and reads fail': { minutes: 20, busRefusals: 0.3, readFaults: 0.3 },
  'clocks differ': { minutes: 20, clockOffMs: 30_000, kills: 0.2, streamFaults: 0.2 },
  'everything at once': {
    minutes: 20,
    clockOffMs: 30_000,
    kills: 0.2,
    streamFaults: 0.2,
    storeFaults: 0.2,
    busRefusals: 0.2,
    readFaults: 0.2,
  },
};

const runs = Number(process.env.CHAOS_RUNS ?? 4);

describe.each(Object.entries(worlds))('%s', (_, options) => {
  test('no change is lost, none is there twice, and there is one stream', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const world = await runChaos({ ...options, seed });
        const tally = checkBus(world);
        assert.ok(tally.changes > 100);
        assert.ok(Math.max(...world.upstream.openCounts) <= 1, 'two streams at one time');
        if (process.env.CHAOS_RUNS)
          console.log(JSON.stringify({ seed, ...tally, streams: world.upstream.openCounts.length }));
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

test('a frozen listener that wakes beside its successor adds nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      checkBus(await runChaos({ minutes: 20, freezes: 0.3, kills: 0.1, streamFaults: 0.1, seed }), {
        late: true,
      });
    }),
    { numRuns: runs, endOnFailure: true },
  );
});
