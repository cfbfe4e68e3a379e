/**
 * Thousands of unique pages of instruments, from one caller or from many: the upstream gets no more than its limit, the
 * list of symbols is read meanwhile, and others are answered or told to wait. Whole gateways before the simulated
 * upstream, on a virtual clock.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { RequestCounters } from '../../../infra/simulator/request-counters.ts';
import { getStockInstrument, limits } from '../../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type Gateway,
  limiterLimits,
} from '../../../lib/gateway/index.ts';
import { gatewayOf, requestOf, snapshotPath } from '../../support/core.ts';
import { sendTo, upstreamOfTest } from '../../support/upstream.ts';
import { useFakeTime } from '../../world/test-time.ts';

const { pass } = useFakeTime();

/** Several instances on the same stores. */
function createFleet(size: number) {
  const arrived: { readonly at: number; readonly isInstrument: boolean; readonly outcome: string }[] = [];
  const upstream = upstreamOfTest({ counters: new RequestCounters() });
  const send = sendTo(upstream, ({ outcome }, { rawTarget }) => {
    arrived.push({ at: Date.now(), isInstrument: rawTarget.split('?')[0]!.includes('instrument'), outcome });
  });
  const cache = createMemoryCacheStores();
  const store = createMemoryLimiterStore();
  const instances = Array.from({ length: size }, () =>
    gatewayOf({
      limiter: createLimiter({ store, limits: limiterLimits(), bucket: 'test' }),
      cache,
      send,
    }),
  );
  const pages = () => arrived.filter(({ isInstrument }) => isInstrument);
  /** The most pages in any minute. */
  const worst = () => {
    const times = pages().map(({ at }) => at);
    return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
  };
  return { instances, arrived, pages, worst, directory: () => cache.directory!.store.readDirectory() };
}

let page = 0;
/** Each one is another request, and each has an answer of its own. */
const uniquePage = () =>
  `${getStockInstrument.path}?category=US_STOCK&page_size=1&last_instrument_id=${1_000_000 + ++page}`;

interface Statuses {
  [status: string]: number;
}

function askAs(gateway: Gateway, unit: string, target: string, statuses: Statuses): void {
  void gateway.handle({ ...requestOf(target), caller: { unit, member: unit } }).then(({ status, body }) => {
    const { code = 'ok' } =
      status === 200 ? {} : (JSON.parse(new TextDecoder().decode(body)) as { code: string });
    statuses[code] = (statuses[code] ?? 0) + 1;
  });
}

test('2,000 unique pages of one caller make no more calls than the limit, and the list of symbols is read meanwhile', async () => {
  const { instances, arrived, pages, worst, directory } = createFleet(3);
  const attacker: Statuses = {};
  const user: Statuses = {};
  const other: Statuses = {};
  await pass(150_000, (at) => {
    // In four seconds, as in the review; the rest of the time is the aftermath.
    if (at < 4000)
      for (let one = 0; one < 25; one++) askAs(instances[one % 3]!, 'greedy', uniquePage(), attacker);
    if (at % 500 === 0)
      askAs(instances[(at / 500) % 3]!, 'user', `${snapshotPath}?symbols=AAPL&category=US_STOCK`, user);
    if (at % 10_000 === 0) askAs(instances[0]!, 'other', uniquePage(), other);
  });
  assert.ok(worst() <= limits.instruments.requests, `${worst()} pages in a minute`);
  assert.ok(
    arrived.every(({ outcome }) => outcome === 'ok'),
    'the upstream refused nothing',
  );
  assert.deepEqual(Object.keys(attacker).sort(), ['budget_used_up', 'ok']);
  assert.equal((attacker.ok ?? 0) + (attacker.budget_used_up ?? 0), 2000);
  // A caller beside it hardly waits, snapshots do not wait at all, and the list is there.
  assert.ok((other.ok ?? 0) >= 13, JSON.stringify(other));
  assert.deepEqual(Object.keys(user), ['ok']);
  assert.ok((await directory())?.symbols.get('US_ETF')?.length);
  assert.ok(pages().length <= 150, `${pages().length} pages`);
});

test('while forty callers together ask for more than the limit without an end, the list of symbols is read all the same', async () => {
  const { instances, worst, directory, arrived } = createFleet(3);
  const statuses: Statuses = {};
  await pass(240_000, (at) => {
    if (at % 200 === 0)
      for (let one = 0; one < 2; one++)
        askAs(instances[one]!, `caller-${(at / 100 + one) % 40}`, uniquePage(), statuses);
    if (at % 500 === 0) askAs(instances[2]!, 'user', `${snapshotPath}?symbols=AAPL&category=US_STOCK`, {});
  });
  assert.ok(worst() <= limits.instruments.requests, `${worst()} pages in a minute`);
  assert.ok(arrived.every(({ outcome }) => outcome === 'ok'));
  assert.ok((await directory())?.symbols.get('US_ETF')?.length, `only ${JSON.stringify(statuses)}`);
  // What is set aside for the list is not lost while it is not read: callers have most of the limit.
  assert.ok((statuses.ok ?? 0) >= 4 * 36, JSON.stringify(statuses));
});
