/**
 * The production code under the load of many phones, on a virtual clock: what clients get, what arrives at
 * the upstream, and what it costs. `npm run study -- snapshots` runs the same, and more, for longer.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { holds } from '../world/holds.ts';
import { mixed, plain } from '../world/scenarios.ts';
import type { Measured } from '../world/study.ts';

const mixedSize = { clients: 2500, seconds: 66 };
const some = { clients: 1500, seconds: 90 };
/** However many clients there are, the upstream is asked as often. */
const fewest = ({ clients }: { readonly clients: number }) => clients / 25;
/** The limiter's window: then what the cold start took has come back. */
const warm = 62;

/** Of the requests that arrived from this second on, how many were answered: 0 … 1. */
function answeredFrom({ bySecond }: Measured, second: number): number {
  const later = bySecond.slice(second);
  const sum = (at: 0 | 1) => later.reduce((total, counts) => total + counts[at], 0);
  return sum(0) / sum(1);
}
const inFiveSeconds = ({ inFiveSeconds: [served, clients] }: Measured) => served / clients;

test('fifteen hundred phones, one category: fresh within the bounds', async () => {
  const measured = await plain(some, {}, { countFrom: warm });
  holds('one category, second minute', measured);
  assert.ok(inFiveSeconds(measured) >= 0.999);
  assert.ok(answeredFrom(measured, 10) >= 0.999);
  assert.ok(measured.perUpstreamRequest >= fewest(some));
  const { p50, p99, max } = measured.ages;
  assert.ok(p50 <= 850 && p99 <= 3000 && max <= 6000, `${p50}/${p99}/${max}`);
});

test('200 symbols, and 20 that do not exist, from a cold start: all are served within five seconds', async () => {
  for (const seed of [1, 2]) {
    const measured = await plain({ ...some, seconds: 12 }, { symbols: 200 }, { seed });
    holds(`200 symbols from cold, ${seed}`, measured);
    assert.equal(inFiveSeconds(measured), 1);
  }
});

test('two categories and their flags, from a cold start', async () => {
  const measured = await mixed(mixedSize);
  holds('five views, from cold', measured);
  assert.ok(inFiveSeconds(measured) >= 0.99);
  assert.ok(answeredFrom(measured, 10) >= 0.999);
  assert.ok(measured.perUpstreamRequest >= fewest(mixedSize));
});

test('a hundred phones', async () => {
  const measured = await plain({ clients: 100, seconds: 90 });
  holds('100 clients', measured);
  assert.equal(inFiveSeconds(measured), 1);
  assert.ok(answeredFrom(measured, 10) >= 0.998);
  assert.ok(measured.ages.p99 <= 2600);
});
