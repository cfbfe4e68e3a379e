/** Requests by events come after those of clients, whichever of the two acquires the lease. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { SnapshotMemory } from '../../lib/cache/snapshots/memory.ts';
import { priorityOf } from '../../lib/cache/snapshots/plan.ts';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/ports.ts';
import { missKey, type PendingMiss, readMiss } from '../../lib/cache/snapshots/store.ts';
import { createBench, us } from './world/bench.ts';

const fromEvents = { priority: 'events' } as const;

test('what only events request is fetched with their priority, and refreshed in the background', async () => {
  const bench = createBench({ figures: { paceMs: 500 } });
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['A'], ...fromEvents });
  assert.deepEqual(bench.permits.asked, ['events']);
  await bench.wait(1700);
  await bench.ask(instance, { symbols: ['A'], ...fromEvents });
  assert.deepEqual(bench.permits.asked, ['events', 'background']);
  await bench.wait(600);
  await bench.ask(instance, { symbols: ['A'], maxAgeMs: 1, ...fromEvents });
  assert.deepEqual(new Set(bench.permits.asked), new Set(['events', 'background']));
});

test('clients ask with theirs, and refresh before events do', async () => {
  const bench = createBench();
  const [client, other] = [bench.instance(), bench.instance()];
  for (let round = 0; round < 40; round++) {
    await bench.ask(other, { symbols: ['A'], ...fromEvents });
    await bench.ask(client, { symbols: ['A'] });
    await bench.wait(60);
  }
  const [first, ...refreshes] = bench.permits.asked;
  assert.equal(first, 'events');
  assert.ok(refreshes.length > 5);
  // Only while a client waits for a slow answer is a refresh so late that events make it.
  const inBackground = refreshes.filter((priority) => priority !== 'interactive');
  assert.ok(inBackground.length <= refreshes.length / 8, `${refreshes}`);
});

test('a call is as urgent as the most urgent request that waits for it', () => {
  const miss = (symbol: string, more: Partial<PendingMiss> = {}): PendingMiss => ({
    caller: 'one',
    view: 'US_STOCK',
    symbol,
    ...more,
  });
  const misses = [
    miss('A', { isEventDriven: true }),
    miss('B', { isEventDriven: true }),
    miss('B'),
    miss('C'),
  ];
  for (const one of misses) assert.deepEqual(readMiss(missKey(one)), one);
  const memory = new SnapshotMemory(defaultSnapshotOptions);
  const input = { memory, flights: [], misses, now: 0 };
  const of = (symbols: readonly string[], isEventDriven: boolean) =>
    priorityOf({ kind: 'miss', view: 'US_STOCK', symbols }, input, isEventDriven);
  assert.equal(of(['A'], true), 'events');
  assert.equal(of(['A'], false), 'events');
  assert.equal(of(['B'], true), 'interactive');
  assert.equal(of(['A', 'C'], true), 'interactive');
  assert.equal(of(['D'], true), 'background');
  assert.equal(of(['D'], false), 'interactive');
});

test('events leave half of the probes to clients', async () => {
  const bench = createBench({ figures: { probesPerMinute: 1 } });
  const instance = bench.instance();
  for (let round = 0; round < 124; round++)
    await bench.ask(instance, { symbols: [`E${round}`], deadline: bench.time.now() + 1500, ...fromEvents });
  const probed = () => bench.calls.flatMap(({ symbols }) => symbols);
  const before = probed().filter((symbol) => symbol.startsWith('E'));
  const count = new Set(before).size;
  assert.ok(count >= 115 && count <= 121, `${count}`);
  const outcome = await bench.ask(instance, us({ symbols: ['CLIENT'] }));
  assert.equal(outcome.kind, 'snapshots');
});
