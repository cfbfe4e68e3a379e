/** What single requests get: order, age, wishes, refusals; a new instance, a lost one. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { SnapshotCall } from '../../lib/cache/snapshots/request.ts';
import { viewOf } from '../../lib/cache/snapshots/view.ts';
import { cacheDirectivesOf, partialResultMembers, snapshotResponse } from '../support/snapshot-response.ts';
import { answered, createBench, symbolsOf, textOf, us } from './world/bench.ts';

/** Instead of refreshes all the time, so that a wish has something to wish for. */
const seldom = 14_000;

test('records come in the order asked, as often as asked, with the upstream’s bytes', async () => {
  const bench = createBench();
  const outcome = await bench.ask(bench.instance(), { symbols: ['B', 'A', 'B'] });
  assert.deepEqual(symbolsOf(outcome), ['B', 'A', 'B']);
  const { body, headers } = snapshotResponse(answered(outcome), {});
  assert.equal(textOf(body), `[${['B', 'A', 'B'].map((one) => textOf(bench.sent.get(one)!)).join(',')}]`);
  assert.equal(headers['content-type'], 'application/json');
});

test('a new instance has its first answer from the store, not from the upstream', async () => {
  const bench = createBench();
  await bench.ask(bench.instance(), { symbols: ['A', 'B'] });
  bench.permits.setOpen(false);
  const before = bench.calls.length;
  const outcome = answered(await bench.ask(bench.instance(), { symbols: ['B', 'A'] }));
  assert.equal(bench.calls.length, before);
  assert.equal(outcome.from, 'memory');
});

test('of many instances that miss the same, one asks', async () => {
  const bench = createBench();
  const instances = Array.from({ length: 12 }, bench.instance);
  const outcomes = await bench.all(instances.map((one) => () => one.ask(us({ symbols: ['A', 'B', 'C'] }))));
  for (const outcome of outcomes) assert.deepEqual(symbolsOf(outcome), ['A', 'B', 'C']);
  assert.equal(bench.calls.filter(({ symbols }) => symbols.includes('A')).length, 1);
});

test('Age is never less than the truth, and an answer says when it is stale', async () => {
  const bench = createBench();
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['A'] });
  bench.permits.setOpen(false);
  for (const [seconds, stale] of [
    [4.2, false],
    [29, true],
    [200, true],
  ] as const) {
    await bench.wait(seconds * 1000);
    const outcome = answered(await bench.ask(instance, { symbols: ['A'] }));
    const age = bench.time.now() - bench.madeAt('A');
    const { headers } = snapshotResponse(outcome, {});
    assert.ok(Number(headers.age) * 1000 >= age && Number(headers.age) * 1000 < age + 1200, headers.age);
    assert.equal(outcome.stale, stale);
    assert.match(headers['cache-status'] ?? '', stale ? /ttl=-\d+; detail=older-than-the-bound/ : /ttl=2\d/);
  }
  await bench.wait(100_000);
  const tooOld = await bench.ask(instance, { symbols: ['A'] });
  assert.equal(tooOld.kind, 'unavailable');
});

test('max-age and no-cache are honoured down to the least that the deployer allows', async () => {
  const bench = createBench({ figures: { paceMs: seldom } });
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['A'] });
  // The one refresh for a while.
  await bench.ask(instance, { symbols: ['A'] });
  await bench.wait(2500);
  const plain = answered(await bench.ask(instance, { symbols: ['A'] }));
  assert.ok(plain.from === 'memory' && plain.ageMs > 2000);
  const young = answered(
    await bench.ask(instance, { symbols: ['A'], ...cacheDirectivesOf({ 'cache-control': 'max-age=2' }) }),
  );
  assert.ok(young.ageMs <= 2000);
  assert.match(snapshotResponse(young, {}).headers['cache-status'] ?? '', /fwd=request/);
  await bench.wait(500);
  // Half a second old is young enough where a second is the minimum.
  assert.equal(answered(await bench.ask(instance, { symbols: ['A'], maxAgeMs: 0 })).from, 'memory');
});

test('wishes are paid from the caller’s share', async () => {
  const bench = createBench({ figures: { refreshesPerMinute: 5, paceMs: seldom, minMaxAgeMs: 100 } });
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['A'] });
  // The one refresh for a while.
  await bench.ask(instance, { symbols: ['A'] });
  let fetched = 0;
  for (let round = 0; round < 12; round++) {
    await bench.wait(300);
    const outcome = answered(await bench.ask(instance, { symbols: ['A'], maxAgeMs: 0, caller: 'greedy' }));
    if (outcome.from !== 'memory') fetched++;
  }
  assert.equal(fetched, 5);
  const other = answered(await bench.ask(instance, { symbols: ['A'], maxAgeMs: 0, caller: 'modest' }));
  assert.equal(other.from, 'own-call');
});

test('flags and categories are separate', async () => {
  const bench = createBench();
  const instance = bench.instance();
  const views = [
    [],
    [['extend_hour_required', 'true']],
    [
      ['overnight_required', 'true'],
      ['extend_hour_required', 'false'],
    ],
  ] as const;
  const bodies = [];
  for (const flags of views) {
    const view = viewOf([['category', 'US_STOCK'], ...flags]);
    bodies.push(textOf(answered(await bench.ask(instance, { view, symbols: ['A'] })).snapshots[0]!.record));
  }
  assert.deepEqual(
    bodies.map((body) => [body.includes('extend_hour_'), body.includes('ovn_')]),
    [
      [false, false],
      [true, false],
      [false, true],
    ],
  );
});

test('a tag that still holds is answered with 304, and changes with any record and their order', async () => {
  const bench = createBench();
  const instance = bench.instance();
  const first = snapshotResponse(answered(await bench.ask(instance, { symbols: ['A', 'B'] })), {});
  const etag = first.headers.etag ?? '';
  bench.permits.setOpen(false);
  const same = answered(await bench.ask(instance, { symbols: ['A', 'B'] }));
  const unchanged = snapshotResponse(same, { 'if-none-match': `"x", ${etag}` });
  assert.deepEqual([unchanged.status, unchanged.body.length, unchanged.headers.etag], [304, 0, etag]);
  assert.ok(unchanged.headers.age && unchanged.headers['cache-status']);
  const turned = snapshotResponse(answered(await bench.ask(instance, { symbols: ['B', 'A'] })), {});
  assert.notEqual(turned.headers.etag, etag);
  bench.permits.setOpen(true);
  await bench.wait(5000);
  const newer = snapshotResponse(answered(await bench.ask(instance, { symbols: ['A', 'B'], maxAgeMs: 0 })), {
    'if-none-match': etag,
  });
  assert.equal(newer.status, 200);
});

test('without the upstream: what is known, with its age, beside what is missing', async () => {
  const bench = createBench();
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['A'] });
  bench.upstream.setDown(true);
  for (let round = 0; round < 20; round++) {
    await bench.ask(instance, { symbols: ['A'] });
    await bench.wait(300);
  }
  const outcome = await bench.ask(instance, { symbols: ['A', 'NEW'] });
  assert.ok(outcome.kind === 'unavailable');
  const members = JSON.parse(`{${partialResultMembers(outcome, bench.time.now())}}`);
  assert.deepEqual(
    [members.missing, members.known.length, members.known[0].snapshot.symbol],
    [['NEW'], 1, 'A'],
  );
  assert.ok(members.known[0].age >= 5);
});

test('a view that the upstream forbids is refused to all its callers for a while, and no other view is', async () => {
  const bench = createBench({ deniedFlag: 'overnight_required' });
  const instance = bench.instance();
  const view = viewOf([
    ['category', 'US_STOCK'],
    ['overnight_required', 'true'],
  ]);
  for (let round = 0; round < 5; round++) {
    const outcome = await bench.ask(instance, { view, symbols: [`S${round}`] });
    assert.ok(outcome.kind === 'refused' && outcome.error.status === 403);
  }
  assert.equal(bench.calls.filter(({ kind }) => kind === 'forbidden').length, 1);
  assert.deepEqual(symbolsOf(await bench.ask(instance, { symbols: ['S0'] })), ['S0']);
});

test('an instance that dies with a lease delays others only for a moment', async () => {
  const bench = createBench();
  bench.loseNextWrite();
  await bench.ask(bench.instance(), { symbols: ['A'] });
  const started = bench.time.now();
  assert.deepEqual(symbolsOf(await bench.ask(bench.instance(), { symbols: ['A'] })), ['A']);
  assert.ok(bench.time.now() - started < 2500, `${bench.time.now() - started}`);
});

test('a store that begins anew, or has a time far ahead in it, does not stop an instance', async () => {
  const bench = createBench();
  const instance = bench.instance();
  for (let round = 0; round < 10; round++) {
    await bench.ask(instance, { symbols: ['A'] });
    await bench.wait(300);
  }
  bench.emptyStore();
  for (let round = 0; round < 5; round++) {
    await bench.wait(300);
    await bench.ask(instance, { symbols: ['A'] });
  }
  assert.ok(answered(await bench.ask(instance, { symbols: ['A'] })).ageMs < 1000);
  await bench.setDue(bench.time.now() + 3_600_000);
  for (let round = 0; round < 5; round++) {
    await bench.wait(300);
    await bench.ask(instance, { symbols: ['A'] });
  }
  assert.ok(answered(await bench.ask(instance, { symbols: ['A'] })).ageMs < 1000);
});

test('what no client requests is forgotten after five minutes', async () => {
  const bench = createBench();
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['OLD', 'A'] });
  const start = bench.time.now();
  const keepAsking = async (untilSecond: number) => {
    while (bench.time.now() < start + untilSecond * 1000) {
      await bench.wait(1000);
      await bench.ask(instance, { symbols: ['A'] });
    }
  };
  await keepAsking(295);
  assert.ok(bench.calls.at(-1)!.symbols.includes('OLD'));
  await keepAsking(305);
  assert.deepEqual(bench.calls.at(-1)!.symbols, ['A']);
});

test('only-if-cached waits for nothing', async () => {
  const bench = createBench();
  const call: Partial<SnapshotCall> = {
    symbols: ['A'],
    ...cacheDirectivesOf({ 'cache-control': 'only-if-cached' }),
  };
  assert.equal((await bench.ask(bench.instance(), call)).kind, 'unavailable');
  assert.equal(bench.calls.length, 0);
  // Not even for a refresh that is due.
  const slow = createBench({ downBy: 'silence' });
  const instance = slow.instance();
  await slow.ask(instance, { symbols: ['A'] });
  await slow.wait(1000);
  slow.upstream.setDown(true);
  const asked = slow.time.now();
  assert.deepEqual(symbolsOf(await slow.ask(instance, call)), ['A']);
  assert.ok(slow.time.now() - asked < 50, `${slow.time.now() - asked} ms`);
});

test('a request that waited in vain says that its answer is from memory', async () => {
  const bench = createBench();
  const instance = bench.instance();
  await bench.ask(instance, { symbols: ['A'] });
  await bench.wait(40_000);
  bench.upstream.setDown(true);
  const wish: Partial<SnapshotCall> = {
    symbols: ['A'],
    ...cacheDirectivesOf({ 'cache-control': 'max-age=1' }),
  };
  const outcome = answered(await bench.ask(instance, wish));
  assert.match(
    snapshotResponse(outcome, {}).headers['cache-status'] ?? '',
    /^countersign; hit; ttl=-1\d; detail/,
  );
});

test('a store that is slow costs time, not answers, and few reads', async () => {
  for (const storeMs of [10, 20, 50, 100, 200]) {
    const bench = createBench({ storeMs });
    const instances = [bench.instance(), bench.instance()];
    assert.deepEqual(symbolsOf(await bench.ask(instances[0]!, { symbols: ['A', 'B'] })), ['A', 'B']);
    assert.deepEqual(
      [bench.calls.length, bench.reads <= 6],
      [1, true],
      `${storeMs} ms: ${bench.reads} reads`,
    );
    // Another instance's refresh is waited for in the same way, with what memory has a moment old.
    await bench.ask(instances[1]!, { symbols: ['A'] });
    await bench.wait(40);
    const before = bench.reads;
    const outcomes = await bench.all(instances.map((one) => () => one.ask(us({ symbols: ['C', 'D'] }))));
    for (const outcome of outcomes) assert.deepEqual(symbolsOf(outcome), ['C', 'D']);
    assert.equal(bench.calls.filter(({ symbols }) => symbols.includes('C')).length, 1);
    assert.ok(bench.reads - before <= 2 * 8, `${storeMs} ms: ${bench.reads - before} reads`);
  }
});
