/**
 * What a greedy reader leaves to a neighbour: response cache and limiter together, on a virtual clock. The greedy
 * one makes thirty reads a second that no other caller made before, the neighbour one a second, for a minute.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createMemoryResponseStore, createResponseCache } from '../../lib/cache/responses/index.ts';
import { type Caller, createMemoryLimiterStore } from '../../lib/gateway/index.ts';
import { createLimiter } from '../../lib/limiter/index.ts';
import { createRandom } from '../world/random.ts';
import { VirtualTime } from '../world/virtual-time.ts';

const minute = 60;

interface Demand {
  readonly caller: Caller;
  readonly perSecond: number;
  /** In seconds. */
  readonly from?: number;
  readonly seconds?: number;
}

/** How many of each caller's reads are served. */
async function served(demands: readonly Demand[]) {
  const time = new VirtualTime();
  const limits = { 'market-data': { requests: 300, perSeconds: 60 } };
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    limits,
    bucket: 'b',
    clock: time.now,
    after: time.after,
    random: createRandom(1),
    keyOf: (appKey) => appKey,
  });
  const answers = createResponseCache({
    store: createMemoryResponseStore(),
    clock: time.now,
    sleep: time.sleep,
  });
  const started = time.now();
  let reads = 0;
  const read = async (caller: Caller) => {
    const outcome = await answers.ask({
      key: `bars#${reads++}`,
      caller,
      freshness: { freshMs: 5000, staleMs: 10_000 },
      fetchMs: 3000,
      async fetch(isOverQuota) {
        const priority = isOverQuota ? ({ priority: 'background' } as const) : {};
        const answer = await limiter.acquire({ appKey: 'k', limits: ['market-data'], ...priority });
        if (answer.ok && answer.permit.consume()) return { kind: 'answer', body: new Uint8Array() };
        return { kind: 'refused', refusal: 'used up', isPrivate: true };
      },
    });
    return outcome.kind === 'answer';
  };
  const all = demands.map(({ caller, perSecond, from = 0, seconds = minute }) => {
    const own: Promise<boolean>[] = [];
    for (let nth = 0; nth < seconds * perSecond; nth++)
      time.after(1000 * (from + nth / perSecond), () => own.push(read(caller)));
    return own;
  });
  await time.runUntil(started + 3 * minute * 1000);
  return Promise.all(all.map(async (own) => (await Promise.all(own)).filter(Boolean).length));
}

const greedy = { caller: { unit: 'here', member: 'one' }, perSecond: 30 };
const neighbour = (unit: string, member: string) => ({ caller: { unit, member }, perSecond: 1 });

test('a neighbour of another network hardly feels a greedy reader', async () => {
  const [, reads = 0] = await served([greedy, neighbour('elsewhere', 'other')]);
  assert.ok(reads >= 58, `${reads} of 60`);
});

for (const head of [5, 10, 20, 30, 45])
  test(`nor one who comes ${head} seconds later: a burst leaves something of the minute`, async () => {
    const [, reads = 0] = await served([
      { ...greedy, seconds: head + minute },
      { ...neighbour('elsewhere', 'other'), from: head },
    ]);
    assert.ok(reads >= 55, `${reads} of 60`);
  });

test('nor does one feel three hundred reads a second', async () => {
  const [, reads = 0] = await served([{ ...greedy, perSecond: 300 }, neighbour('elsewhere', 'other')]);
  assert.ok(reads >= 55, `${reads} of 60`);
});

test('nor does a neighbour of the same network, at another address', async () => {
  const [, reads = 0] = await served([greedy, neighbour('here', 'other')]);
  assert.ok(reads >= 50, `${reads} of 60`);
});

test('who is alone has all of the limit, however greedy', async () => {
  const [all = 0] = await served([greedy]);
  assert.ok(all >= 285, `${all} of 300`);
});

test('four times the quota of an address is served while no other caller asks', async () => {
  const [all = 0] = await served([{ ...greedy, perSecond: 4 }]);
  assert.equal(all, 4 * minute);
});
