/** A record that is older than its requester accepts counts as missing. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createMemoryCacheStores } from '../../lib/gateway/index.ts';
import { lookUpDirectly } from '../../lib/lookups/index.ts';
import { ask, coreFor, snapshotPath } from '../support/core.ts';
import { useCalmTime } from '../world/test-time.ts';
import { createWorld, quotes, recordOf, symbolsOf, type World } from './world.ts';

useCalmTime();

const bytes = (text: string) => new TextEncoder().encode(text);

/** A gateway with old quotes, and for that time nothing newer. */
function oldQuotes(world: World, ages: Readonly<Record<string, number>>, untilMs = Number.POSITIVE_INFINITY) {
  const until = world.now + untilMs;
  world.upstream = (request) => {
    const symbols = symbolsOf(request);
    const isOld = world.now < until;
    return {
      kind: 'snapshots',
      records: symbols.map((symbol) => ({
        symbol,
        bytes: bytes(recordOf(symbol)),
        ageMs: isOld ? (ages[symbol] ?? 0) : 0,
        hash: 0,
      })),
      unknown: [],
      cacheResult: 'hit',
      ageMs: 120_000,
      ttlMs: 0,
      stale: true,
      hasMaxAge: false,
      pollAfterMs: 1000,
    };
  };
}
const codesOf = (world: World, id: string) => {
  const [reply, ...more] = world.repliesTo(id);
  assert.deepEqual(more, []);
  return [reply?.type, reply?.detail.code, reply?.detail.retryable];
};

test('quotes older than asked for are waited for, and given as soon as they are fresh enough', async () => {
  const world = createWorld();
  oldQuotes(world, { A: 9000, B: 11_000 }, 20_000);
  const started = world.now;
  const young = quotes(['A'], { max_age_seconds: 10 });
  const old = quotes(['A', 'B'], { max_age_seconds: 10 });
  const lenient = quotes(['A', 'B'], { max_age_seconds: 11 });
  for (const request of [young, old, lenient]) world.send(request);
  await world.deliver();
  assert.equal(world.repliesTo(young.request_id).length, 1);
  assert.equal(world.repliesTo(lenient.request_id).length, 1);
  assert.deepEqual(world.repliesTo(old.request_id), []);
  assert.equal(world.waits.length, 1);
  await world.run();
  assert.equal(codesOf(world, old.request_id)[0], 'QuoteLookupCompleted');
  assert.ok(Date.parse(String(world.repliesTo(old.request_id)[0]?.detail.as_of)) >= started + 20_000);
  assert.deepEqual(world.dead, []);
});

test('at its deadline a lookup without a fresh record fails as retryable, and one with some receives them', async () => {
  const world = createWorld();
  oldQuotes(world, { B: 5000 });
  const none = quotes(['B'], { max_age_seconds: 4, deadline_seconds: 30 });
  const part = quotes(['A', 'B'], { max_age_seconds: 4, deadline_seconds: 30 });
  for (const request of [none, part]) world.send(request);
  await world.run();
  assert.deepEqual(codesOf(world, none.request_id), ['QuoteLookupFailed', 'no_fresh_answer', true]);
  const [reply] = world.repliesTo(part.request_id);
  assert.deepEqual(reply?.detail.missing, [{ symbol: 'B', code: 'no_fresh_answer' }]);
  assert.deepEqual(reply?.detail.quotes, [JSON.parse(recordOf('A'))]);
});

test('without a maximum age the deployment’s soft bound applies; its smallest maximum age applies, too', async () => {
  const world = createWorld({ ages: { staleAfterMs: 60_000, minMaxAgeMs: 2000 } });
  oldQuotes(world, { A: 60_000, B: 60_001, C: 2000, D: 2001 });
  const requests = [
    quotes(['A']),
    quotes(['B']),
    ...['C', 'D'].map((one) => quotes([one], { max_age_seconds: 0 })),
  ];
  for (const request of requests) world.send(request);
  await world.deliver();
  assert.deepEqual(
    requests.map(({ request_id }) => world.repliesTo(request_id).length),
    [1, 0, 1, 0],
  );
  const byDefault = createWorld();
  oldQuotes(byDefault, { A: 30_001 });
  byDefault.send(quotes(['A']));
  await byDefault.deliver();
  assert.equal(byDefault.waits.length, 1);
});

test('another read waits for the age that it names, and without one receives what interactive callers receive', async () => {
  const world = createWorld();
  world.upstream = () => ({
    kind: 'cached',
    body: bytes('[]'),
    cacheResult: 'hit',
    ageMs: 100_000,
    ttlMs: 0,
    freshMs: 60_000,
  });
  const read = {
    operation: 'listStockBars',
    body: { symbols: ['AAPL'], category: 'US_STOCK', timespan: 'D' },
    deadline_seconds: 10,
  };
  world.send({ ...read, request_id: 'any' });
  world.send({ ...read, request_id: 'fresh', max_age_seconds: 99 });
  await world.run();
  assert.equal(codesOf(world, 'any')[0], 'ReadCompleted');
  assert.deepEqual(codesOf(world, 'fresh'), ['ReadFailed', 'no_fresh_answer', true]);
});

test('a direct call fails so that its workflow asks again', async () => {
  const world = createWorld();
  oldQuotes(world, { A: 31_000 });
  const { failure } = await lookUpDirectly(world.options, quotes(['A']), world.now + 20_000);
  assert.deepEqual([failure?.code, failure?.retryable], ['no_fresh_answer', true]);
});

test('through the real gateway: old quotes of a failing upstream are no answer until it is back', async (t) => {
  let isDown = false;
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const { gateway } = await coreFor(
    t,
    { fault: () => (isDown ? { kind: 'status', status: 503 } : undefined) },
    { clock, cache: createMemoryCacheStores() },
  );
  const world = createWorld({ gateway, clock });
  const deliver = () => {
    world.now = clock();
    return world.deliver();
  };
  const target = `${snapshotPath}?symbols=AAPL&category=US_STOCK`;
  assert.equal((await ask(gateway, target)).status, 200);
  isDown = true;
  ahead = 60_000;
  assert.equal((await ask(gateway, target)).status, 200, 'interactive callers have it, as stale');
  const request = quotes(['AAPL']);
  world.now = clock();
  world.send(request);
  await deliver();
  assert.deepEqual([world.repliesTo(request.request_id).length, world.waits.length], [0, 1]);
  isDown = false;
  while (world.queue.length > 0) {
    ahead += 5000;
    await deliver();
  }
  const [reply] = world.repliesTo(request.request_id);
  assert.equal(reply?.type, 'QuoteLookupCompleted');
  assert.ok(Date.parse(String(reply?.detail.as_of)) > world.now - 30_000);
});
