/** Several limits, shares of a limit, permits, reports, and blocking after the upstream's own refusal. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createLimiter,
  createMemoryLimiterStore,
  type LimiterOptions,
  type LimiterReport,
} from '../../../lib/limiter/index.ts';
import { Upstream } from '../world/upstream.ts';
import { marketData, World } from '../world/world.ts';

const minute = 60_000;
const narrow = { requests: 60, perSeconds: 60, within: 'market-data' };

/** The most that any window of 60 s held of the requests of these times. */
const worst = (times: readonly number[]) => new Upstream(times).worstWindow();

describe('nested limits', () => {
  const limits = { ...marketData, 'op:snapshot': narrow, 'group:x': { ...narrow, requests: 100 } };

  test('one call counts against each, and no window of any holds more than it allows', async () => {
    const world = new World({ seed: 51, instances: 40, limiter: { limits } });
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

  test('all or none: a refusal by a narrow limit costs the wide one nothing', async () => {
    const world = new World({ seed: 52, instances: 10, limiter: { limits } });
    await world.live(8 * minute, [
      { perMinute: 600, limits: ['market-data', 'op:snapshot'] },
      { perMinute: 600 },
    ]);
    const from = world.clock.now() - 6 * minute;
    assert.ok(world.upstream.between(from, world.clock.now()) / 1800 > 0.95);
    assert.ok(worst(world.sentUnder('op:snapshot')) <= 60);
  });

  test('a narrow limit alone grants most of what it allows', async () => {
    const world = new World({ seed: 53, instances: 10, limiter: { limits } });
    await world.live(11 * minute, [{ perMinute: 200, limits: ['market-data', 'op:snapshot'] }]);
    const granted = world.sentUnder('op:snapshot').filter((time) => time >= world.clock.now() - 9 * minute);
    assert.ok(granted.length / 540 > 0.85, `${granted.length / 540}`);
  });
});

describe('a small limit', () => {
  const limits = { queries: { requests: 2, perSeconds: 2 } };
  const worldWith = (seed: number, networkMs: number) =>
    new World({
      seed,
      instances: 8,
      extreme: seed % 2 === 0,
      networkMs,
      freezesPerMinute: 20,
      killsPerMinute: 6,
      limiter: { limits },
    });

  test('is held although every request is on its way for up to a second and a half, and is used well', async () => {
    for (const seed of [71, 72, 73, 74]) {
      const world = worldWith(seed, 1500);
      await world.live(10 * minute, [{ perMinute: 120, limits: ['queries'] }]);
      assert.ok(world.upstream.worstWindow(2000) <= 2, `seed ${seed}: ${world.upstream.worstWindow(2000)}`);
      assert.ok(world.counts.sent > 190, `seed ${seed}: ${world.counts.sent} in ten minutes`);
    }
  });

  test('is exceeded on a network that takes longer than the margins allow for', async () => {
    const world = worldWith(72, 4000);
    await world.live(10 * minute, [{ perMinute: 120, limits: ['queries'] }]);
    assert.ok(world.upstream.worstWindow(2000) > 2);
  });
});

describe('of several limits', () => {
  const limits = {
    wide: { requests: 20, perSeconds: 60 },
    one: { ...narrow, requests: 10, within: 'wide' },
    other: { ...narrow, within: 'wide' },
  };

  test('a refusal names the one that is used up, and a report the one of which least is left', async () => {
    const now = 1_795_000_000_000;
    const reports: LimiterReport[] = [];
    const limiter = limiterOf({ limits, clock: () => now, report: (report) => reports.push(report) });
    const ask = async (...inner: string[]) => {
      const answer = await limiter.acquire({ appKey: 'k', limits: ['wide', ...inner], waitMs: 0 });
      return answer.ok || answer.usedUp;
    };
    for (let request = 0; request < 9; request++) assert.equal(await ask('one'), true);
    assert.deepEqual(
      reports.map((report) => report.kind === 'granted' && [report.remaining, report.narrowest?.remaining]),
      Array.from({ length: 9 }, (_, index) => [18 - index, 8 - index]),
    );
    assert.equal(await ask('one'), 'one');
    assert.equal(await ask('other'), true);
    const last = reports.at(-1);
    assert.ok(last?.kind === 'granted' && last.narrowest === undefined);
    while ((await ask()) === true);
    assert.equal(await ask('other'), 'wide');
  });
});

describe('shares', () => {
  test('two stacks with a table each and half the limit each stay within it together', async () => {
    const limiter = { limits: { 'market-data': { requests: 300, perSeconds: 60, share: 0.5 } } };
    const one = new World({ seed: 54, instances: 20, limiter });
    const other = new World({ seed: 55, instances: 20, limiter });
    for (const world of [one, other]) await world.live(8 * minute, [{ perMinute: 600 }]);
    const both = [...one.upstream.arrivals, ...other.upstream.arrivals];
    assert.ok(worst(both) <= 300, `${worst(both)}`);
    assert.ok(one.upstream.worstWindow() <= 150);
    assert.ok(one.upstream.worstWindow() > 140);
  });
});

describe('a 429 of the upstream', () => {
  test('blocks the limit for all instances, for as long as it says, and is reported', async () => {
    const world = new World({ seed: 56, instances: 20, networkMs: 0 });
    world.keepReports();
    await world.live(10_000, [{ perMinute: 120 }]);
    const blockedAt = world.clock.now();
    // Many instances receive a 429 at once; each blocks the limit.
    for (const { limiter } of world.instances) void limiter.block('world-app-key', 'market-data', 20_000);
    await world.live(30_000, [{ perMinute: 120 }]);
    assert.equal(world.upstream.between(blockedAt + 100, blockedAt + 19_000), 0);
    assert.ok(world.upstream.between(blockedAt + 19_000, world.clock.now()) > 5);
    assert.ok(world.reports.some((report) => report.kind === 'blocked' && report.limit === 'market-data'));
    const refused = world.reports.filter((report) => report.kind === 'refused');
    assert.ok(refused.length > 10 && refused.every(({ reason }) => reason === 'blocked'));
    for (const { retryAfterMs } of refused) assert.ok(retryAfterMs <= 33_000, `${retryAfterMs}`);
  });

  test('a permit that is not yet consumed is void in the instance that blocks', async () => {
    const limiter = limiterOf({});
    const answer = await limiter.acquire({ appKey: 'k', limits: ['market-data'] });
    assert.ok(answer.ok);
    await limiter.block('k', 'market-data');
    assert.equal(answer.permit.consume(), false);
    const next = await limiter.acquire({ appKey: 'k', limits: ['market-data'], waitMs: 1000 });
    assert.ok(!next.ok && next.reason === 'blocked');
    assert.ok(next.retryAfterMs > 5000 && next.retryAfterMs < 11_000, `${next.retryAfterMs}`);
    // Another app key has limits of its own.
    assert.ok((await limiter.acquire({ appKey: 'k2', limits: ['market-data'] })).ok);
  });

  test('a permit of another instance is void once that instance has read of the block', async () => {
    const store = createMemoryLimiterStore();
    const clock = () => 1_795_000_000_000;
    const [blocking, other] = [limiterOf({ store, clock }), limiterOf({ store, clock })];
    const ask = () => other.acquire({ appKey: 'k', limits: ['market-data'], waitMs: 0 });
    const booked = await ask();
    await blocking.block('k', 'market-data', 20_000);
    const next = await ask();
    assert.equal(next.ok || next.reason, 'blocked');
    assert.ok(booked.ok && !booked.permit.consume());
  });
});

const limiterOf = (options: Partial<LimiterOptions>) =>
  createLimiter({ store: createMemoryLimiterStore(), limits: marketData, bucket: 'test', ...options });

describe('a permit', () => {
  test('is consumed once', async () => {
    const answer = await limiterOf({}).acquire({ appKey: 'k', limits: ['market-data'] });
    assert.ok(answer.ok);
    assert.deepEqual([answer.permit.consume(), answer.permit.consume()], [true, false]);
  });

  test('expires after its life, by a clock that went on meanwhile', async () => {
    let now = 1_795_000_000_000;
    const reports: string[] = [];
    const limiter = limiterOf({ clock: () => now, report: ({ kind }) => reports.push(kind) });
    for (const [life, valid] of [
      [250, true],
      [251, false],
    ] as const) {
      const answer = await limiter.acquire({ appKey: 'k', limits: ['market-data'] });
      assert.ok(answer.ok);
      assert.equal(answer.permit.expiresAt, now + 250);
      now += life;
      assert.equal(answer.permit.consume(), valid);
    }
    assert.deepEqual(reports, ['granted', 'granted', 'expired']);
  });
});

test('reports contain the remaining permits, the wait, and each refusal with its priority', async () => {
  const reports: LimiterReport[] = [];
  const limits = { small: { requests: 2, perSeconds: 60 } };
  const limiter = limiterOf({ limits, report: (report) => reports.push(report) });
  const ask = () => limiter.acquire({ appKey: 'k', limits: ['small'], priority: 'events', waitMs: 1000 });
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
    test(JSON.stringify(limits), () => assert.throws(() => limiterOf({ limits }), what));

  test('a call names a limit, and limits within it', async () => {
    const limiter = limiterOf({ limits: { ...marketData, other: marketData['market-data'], n: narrow } });
    for (const limits of [['none'], ['n'], ['market-data', 'other'], ['other', 'n']] as const)
      await assert.rejects(limiter.acquire({ appKey: 'k', limits }), RangeError);
    assert.ok((await limiter.acquire({ appKey: 'k', limits: ['market-data', 'n'] })).ok);
  });
});
