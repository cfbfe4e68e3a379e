/** Several limits, shares of one, and what the upstream itself refuses. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createLimiter,
  createMemoryLimiterStore,
  type LimiterOptions,
  type LimiterReport,
} from '../../lib/limiter/index.ts';
import { Upstream } from './world/upstream.ts';
import { createWorld, marketData } from './world/world.ts';

const minute = 60_000;
const narrow = { requests: 60, perSeconds: 60, within: 'market-data' };

/** The most that any window of 60 s held of the requests of these times. */
function worst(times: readonly number[]): number {
  const counted = new Upstream();
  for (const time of times) counted.arrive(time);
  return counted.worstWindow();
}

describe('nested limits', () => {
  const limits = { ...marketData, 'op:snapshot': narrow, 'group:x': { ...narrow, requests: 100 } };

  test('one call draws from each, and no window of any holds more than it allows', async () => {
    const world = createWorld({ seed: 51, instances: 40, limiter: { limits } });
    await world.live(10 * minute, [
      { perMinute: 300 },
      { perMinute: 200, limits: ['market-data', 'op:snapshot'] },
      { perMinute: 200, limits: ['market-data', 'group:x', 'op:snapshot'] },
      { perMinute: 200, limits: ['market-data', 'group:x'] },
    ]);
    const of = (name: string) => world.sentUnder(name);
    assert.ok(worst(of('market-data')) <= 300);
    assert.ok(worst(of('op:snapshot')) <= 60, `${worst(of('op:snapshot'))}`);
    assert.ok(worst(of('group:x')) <= 100);
    assert.ok(of('op:snapshot').length > 300, `${of('op:snapshot').length} in ten minutes`);
  });

  test('all or none: what a narrow limit refuses costs the wide one nothing', async () => {
    const world = createWorld({ seed: 52, instances: 10, limiter: { limits } });
    await world.live(8 * minute, [
      { perMinute: 600, limits: ['market-data', 'op:snapshot'] },
      { perMinute: 600 },
    ]);
    const from = world.clock.now - 6 * minute;
    assert.ok(world.upstream.between(from, world.clock.now) / 1800 > 0.95);
    assert.ok(worst(world.sentUnder('op:snapshot')) <= 60);
  });

  test('a narrow limit alone gives most of what it allows', async () => {
    const world = createWorld({ seed: 53, instances: 10, limiter: { limits } });
    await world.live(11 * minute, [{ perMinute: 200, limits: ['market-data', 'op:snapshot'] }]);
    const given = world.sentUnder('op:snapshot').filter((time) => time >= world.clock.now - 9 * minute);
    assert.ok(given.length / 540 > 0.85, `${given.length / 540}`);
  });
});

describe('shares', () => {
  test('two stacks with a table each and half the limit each keep it together', async () => {
    const budget = { limits: { 'market-data': { requests: 300, perSeconds: 60, share: 0.5 } } };
    const one = createWorld({ seed: 54, instances: 20, limiter: budget });
    const other = createWorld({ seed: 55, instances: 20, limiter: budget });
    for (const world of [one, other]) await world.live(8 * minute, [{ perMinute: 600 }]);
    const both = [...one.upstream.arrivals, ...other.upstream.arrivals];
    assert.ok(worst(both) <= 300, `${worst(both)}`);
    assert.ok(one.upstream.worstWindow() <= 150);
    assert.ok(one.upstream.worstWindow() > 140);
  });
});

describe('a 429 of the upstream', () => {
  test('closes the limit for all instances, for as long as it says, and is reported', async () => {
    const world = createWorld({ seed: 56, instances: 20, networkMs: 0 });
    world.keepReports();
    await world.live(10_000, [{ perMinute: 120 }]);
    const closed = world.clock.now;
    // Of many that are told at once, each tells the budget.
    for (const { budget } of world.instances) void budget.block('world-app-key', 'market-data', 20_000);
    await world.live(30_000, [{ perMinute: 120 }]);
    assert.equal(world.upstream.between(closed + 100, closed + 19_000), 0);
    assert.ok(world.upstream.between(closed + 19_000, world.clock.now) > 5);
    assert.ok(world.reports.some((report) => report.kind === 'blocked' && report.limit === 'market-data'));
    const refused = world.reports.filter((report) => report.kind === 'refused');
    assert.ok(refused.length > 10 && refused.every(({ reason }) => reason === 'blocked'));
    for (const { retryAfterMs } of refused) assert.ok(retryAfterMs <= 33_000, `${retryAfterMs}`);
  });

  test('a permission in hand is not used any more by whoever was told', async () => {
    const budget = budgetOf({});
    const answer = await budget.acquire({ appKey: 'k', limits: ['market-data'] });
    assert.ok(answer.ok);
    await budget.block('k', 'market-data');
    assert.equal(answer.permit.consume(), false);
    const next = await budget.acquire({ appKey: 'k', limits: ['market-data'], waitMs: 1000 });
    assert.ok(!next.ok && next.reason === 'blocked');
    assert.ok(next.retryAfterMs > 5000 && next.retryAfterMs < 11_000, `${next.retryAfterMs}`);
    // Another app key is another budget.
    assert.ok((await budget.acquire({ appKey: 'k2', limits: ['market-data'] })).ok);
  });
});

const budgetOf = (options: Partial<LimiterOptions>) =>
  createLimiter({ store: createMemoryLimiterStore(), limits: marketData, bucket: 'test', ...options });

describe('a permission', () => {
  test('is used once', async () => {
    const answer = await budgetOf({}).acquire({ appKey: 'k', limits: ['market-data'] });
    assert.ok(answer.ok);
    assert.deepEqual([answer.permit.consume(), answer.permit.consume()], [true, false]);
  });

  test('burns after its life, by a clock that went on meanwhile', async () => {
    let now = 1_795_000_000_000;
    const reports: string[] = [];
    const budget = budgetOf({ clock: () => now, report: ({ kind }) => reports.push(kind) });
    for (const [life, valid] of [
      [250, true],
      [251, false],
    ] as const) {
      const answer = await budget.acquire({ appKey: 'k', limits: ['market-data'] });
      assert.ok(answer.ok);
      assert.equal(answer.permit.expiresAt, now + 250);
      now += life;
      assert.equal(answer.permit.consume(), valid);
    }
    assert.deepEqual(reports, ['granted', 'granted', 'expired']);
  });
});

test('reports tell what is left, how long was waited and who was refused', async () => {
  const reports: LimiterReport[] = [];
  const limits = { small: { requests: 3, perSeconds: 60 } };
  const budget = budgetOf({ limits, report: (report) => reports.push(report) });
  const ask = () => budget.acquire({ appKey: 'k', limits: ['small'], priority: 'events', waitMs: 1000 });
  assert.deepEqual([(await ask()).ok, (await ask()).ok, (await ask()).ok], [true, true, false]);
  assert.deepEqual(
    reports.map((report) => [report.kind, 'remaining' in report ? report.remaining : undefined]),
    [
      ['granted', 1],
      ['granted', 0],
      ['refused', undefined],
    ],
  );
  for (const report of reports) {
    assert.ok('priority' in report && report.priority === 'events');
    assert.ok('waitedMs' in report && report.waitedMs >= 0);
  }
  const last = reports.at(-1);
  assert.ok(last?.kind === 'refused' && last.reason === 'exhausted');
  assert.ok(last.retryAfterMs > 50_000 && last.retryAfterMs < 63_000, `${last.retryAfterMs}`);
});

describe('a wrong configuration is refused', () => {
  for (const [limits, what] of [
    [{ a: { requests: 0, perSeconds: 60 } }, /no permit is left/],
    [{ a: { requests: 300, perSeconds: 60, share: 0 } }, /no permit is left/],
    [{ a: { requests: 300, perSeconds: 60, share: 1.5 } }, /no permit is left/],
    [{ a: { requests: 300, perSeconds: Number.NaN } }, /no permit is left/],
    [{ 'a b': { requests: 300, perSeconds: 60 } }, /a name of letters/],
  ] as const)
    test(JSON.stringify(limits), () => assert.throws(() => budgetOf({ limits }), what));

  test('a call names a limit, and limits within it', async () => {
    const budget = budgetOf({ limits: { ...marketData, other: marketData['market-data'], n: narrow } });
    for (const limits of [['none'], ['n'], ['market-data', 'other'], ['other', 'n']] as const)
      await assert.rejects(budget.acquire({ appKey: 'k', limits }), RangeError);
    assert.ok((await budget.acquire({ appKey: 'k', limits: ['market-data', 'n'] })).ok);
  });
});
