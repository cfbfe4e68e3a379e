/**
 * The production code under the load of many phones, on a virtual clock: what clients get, what arrives at
 * the upstream, and what it costs. `study-main.ts` runs the same, and more, for longer.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClients } from './world/load.ts';
import { passThrough } from './world/pass-through.ts';
import { mixed, outage, plain, poison, rareSymbols } from './world/scenarios.ts';
import { type Measured, report } from './world/study.ts';
import { createRandom } from './world/virtual-time.ts';

const full = { clients: 10_000, seconds: 120 };
const small = { clients: 1000, seconds: 120 };
/** The window of the stand-in budget: then what the cold start took has come back. */
const warm = 62;

/** What is true of every run. */
function holds(name: string, measured: Measured): void {
  console.log(report(name, measured));
  assert.equal(measured.wrong, 0, 'answers that are not what was asked for, or older than they say');
  assert.ok(measured.worstMinute <= 300, `${measured.worstMinute} in a minute`);
}

test('ten thousand phones, one category: fresh within the bounds', async () => {
  const measured = await plain(full, {}, { countFrom: warm });
  holds('one category, second minute', measured);
  assert.ok(measured.answered / measured.requests >= 0.999);
  assert.ok(measured.perUpstreamRequest >= 400);
  const { p50, p99, max } = measured.ages;
  assert.ok(p50 <= 850 && p99 <= 2600 && max <= 5000, `${p50}/${p99}/${max}`);
});

test('the same load passed through', async () => {
  const clients = createClients(createRandom(7), { clients: full.clients, symbols: 1000 });
  const { requests, answered } = await passThrough(clients, full.seconds);
  console.log(`pass-through: ${((100 * answered) / requests).toFixed(2)} % of ${requests} answered`);
  assert.ok(answered / requests < 0.01);
});

test('two categories and their flags, from a cold start', async () => {
  const measured = await mixed({ ...full, seconds: 66 });
  holds('five views, from cold', measured);
  assert.ok(measured.answered / measured.requests >= 0.999);
  assert.ok(measured.perUpstreamRequest >= 400);
});

test('a hundred phones', async () => {
  const measured = await plain({ ...full, clients: 100 });
  holds('100 clients', measured);
  assert.ok(measured.answered / measured.requests >= 0.998);
  assert.ok(measured.ages.p99 <= 2600);
});

test('a symbol that nobody has is there in a moment', async () => {
  const { p50, p99 } = await rareSymbols({ ...small, clients: 2000, seconds: 90 });
  console.log(`rare symbol: waited ${p50.toFixed(0)} ms at the median, ${p99.toFixed(0)} ms at most`);
  assert.ok(p50 <= 250 && p99 <= 2000);
});

for (const by of ['error', 'silence'] as const)
  test(`the upstream is down for half a minute, by ${by}: everybody is served, and fresh soon after`, async () => {
    const { measured, meanwhile, afterwards } = await outage(small, 'upstreamDown', 70, by);
    holds(`upstream down by ${by}`, measured);
    assert.equal(meanwhile[0], meanwhile[1]);
    assert.ok(afterwards.p99 <= 4000, `${afterwards.p99}`);
  });

test('the store is away for half a minute: memory serves', async () => {
  const { measured, meanwhile, afterwards } = await outage(small, 'storeAway', 70);
  holds('store away', measured);
  assert.ok(meanwhile[0] / meanwhile[1] >= 0.99);
  assert.ok(afterwards.p99 <= 5000, `${afterwards.p99}`);
});

test('junk of one caller costs nobody else', async () => {
  const { clean, poisoned } = await poison({ clients: 2000, seconds: 180 }, warm);
  holds('without junk of that caller', clean);
  holds('with it', poisoned);
  for (const part of ['p50', 'p99'] as const)
    assert.ok(poisoned.ages[part] <= 1.1 * clean.ages[part], `${part}: ${poisoned.ages[part]}`);
});
