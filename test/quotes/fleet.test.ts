/**
 * The production code under the load of many phones, on a virtual clock: what clients get, what arrives at
 * the upstream, and what it costs. `study-main.ts` runs the same longer.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './world/load.ts';
import { passThrough } from './world/pass-through.ts';
import { mixed, outage, plain, poison, rareSymbols } from './world/scenarios.ts';
import { type Measured, report } from './world/study.ts';

const full = { clients: 10_000, seconds: 120 };

/** What is true of every run. */
function holds(name: string, measured: Measured): void {
  console.log(report(name, measured));
  assert.equal(measured.wrong, 0, 'an answer that is not what was asked for, or older than it says');
  assert.ok(measured.worstMinute <= 300, `${measured.worstMinute} in a minute`);
}

test('ten thousand phones, one category: fresh within the bounds, after two minutes from cold', async () => {
  const measured = await plain(full, {}, { countFrom: 62 });
  holds('one category, second minute', measured);
  assert.ok(measured.answered / measured.requests >= 0.999);
  assert.ok(measured.perUpstreamRequest >= 400);
  assert.ok(measured.ages.p50 <= 850 && measured.ages.p99 <= 2600 && measured.ages.max <= 5000);
});
