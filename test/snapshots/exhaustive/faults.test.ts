/** What goes wrong under load, on a virtual clock: rare and unknown symbols, the upstream, the store. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { holds } from '../world/holds.ts';
import { type Absence, outages, poison, rareSymbols } from '../world/scenarios.ts';

/** The limiter's window: then what the cold start took has come back. */
const warm = 62;

test('a symbol that no instance has is there in a moment', async () => {
  const { p50, p99 } = await rareSymbols({ clients: 1000, seconds: 75 });
  console.log(`rare symbol: waited ${p50.toFixed(0)} ms at the median, ${p99.toFixed(0)} ms at most`);
  // Half a step of the limiter's pace is for the permit.
  assert.ok(p50 <= 400 && p99 <= 2000, `${p50}/${p99}`);
});

/** Those of the upstream share a world: the second begins while what the first cost of the limit still counts. */
const absences: Readonly<
  Record<string, readonly (Absence & { readonly served: number; readonly p99: number })[]>
> = {
  'the upstream, by an error and by silence': [
    { what: ['upstreamDown'], from: 70, downBy: 'error', served: 1, p99: 4000 },
    { what: ['upstreamDown'], from: 120, downBy: 'silence', served: 1, p99: 4000 },
  ],
  // Memory serves, with the reserve of the fallback limiter.
  'the store': [{ what: ['storeAway'], from: 70, served: 0.99, p99: 5000 }],
  'the limiter’s store': [{ what: ['limiterAway'], from: 70, served: 0.99, p99: 5000 }],
  'both stores': [{ what: ['storeAway', 'limiterAway'], from: 70, served: 0.99, p99: 5000 }],
};

for (const [name, all] of Object.entries(absences))
  test(`half a minute without ${name}: every client is served, and fresh soon after`, async () => {
    const { measured, each } = await outages({ clients: 400, seconds: all.at(-1)!.from + 39 }, all);
    holds(`without ${name}`, measured);
    for (const [index, { meanwhile, afterwards }] of each.entries()) {
      const { served, p99 } = all[index]!;
      console.log(JSON.stringify({ meanwhile, afterwards }));
      assert.ok(meanwhile[1] > 2000 && meanwhile[0] / meanwhile[1] >= served, meanwhile.join(' of '));
      assert.ok(afterwards.p50 > 0 && afterwards.p99 <= p99, `${afterwards.p99}`);
    }
  });

test('invalid symbols of one caller cost no other caller', async () => {
  const { clean, poisoned } = await poison({ clients: 1000, seconds: 125 }, warm);
  holds('without invalid symbols of that caller', clean);
  holds('with them', poisoned);
  // Eight tests a minute are forgiven, and clients that are refused come again: each costs others a refresh.
  for (const part of ['p50', 'p99'] as const)
    assert.ok(poisoned.ages[part] <= 1.25 * clean.ages[part], `${part}: ${poisoned.ages[part]}`);
});
