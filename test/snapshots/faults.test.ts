/** What goes wrong under load, on a virtual clock: rare and unknown symbols, the upstream, the store. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { holds } from './world/holds.ts';
import { outage, poison, rareSymbols } from './world/scenarios.ts';

const small = { clients: 1000, seconds: 120 };
/** The limiter's window: then what the cold start took has come back. */
const warm = 62;

test('a symbol that no instance has is there in a moment', async () => {
  const { p50, p99 } = await rareSymbols({ ...small, clients: 2000, seconds: 90 });
  console.log(`rare symbol: waited ${p50.toFixed(0)} ms at the median, ${p99.toFixed(0)} ms at most`);
  // Half a step of the limiter's pace is for the permit.
  assert.ok(p50 <= 400 && p99 <= 2000, `${p50}/${p99}`);
});

for (const by of ['error', 'silence'] as const)
  test(`the upstream is down for half a minute, by ${by}: every client is served, and fresh soon after`, async () => {
    const { measured, meanwhile, afterwards } = await outage(small, ['upstreamDown'], {
      from: 70,
      downBy: by,
    });
    holds(`upstream down by ${by}`, measured);
    assert.equal(meanwhile[0], meanwhile[1]);
    assert.ok(afterwards.p99 <= 4000, `${afterwards.p99}`);
  });

for (const what of [['storeAway'], ['limiterAway'], ['storeAway', 'limiterAway']] as const)
  test(`half a minute of ${what.join(' and ')}: memory serves, with the reserve of the fallback limiter`, async () => {
    const { measured, meanwhile, afterwards } = await outage(small, what, { from: 70 });
    holds(what.join(' and '), measured);
    assert.ok(meanwhile[0] / meanwhile[1] >= 0.99);
    assert.ok(afterwards.p99 <= 5000, `${afterwards.p99}`);
  });

test('invalid symbols of one caller cost no other caller', async () => {
  const { clean, poisoned } = await poison({ clients: 2000, seconds: 180 }, warm);
  holds('without invalid symbols of that caller', clean);
  holds('with them', poisoned);
  // Eight tests a minute are forgiven, and clients that are refused come again: each costs others a refresh.
  for (const part of ['p50', 'p99'] as const)
    assert.ok(poisoned.ages[part] <= 1.25 * clean.ages[part], `${part}: ${poisoned.ages[part]}`);
});
