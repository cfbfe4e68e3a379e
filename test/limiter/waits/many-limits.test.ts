/** Dozens of narrower limits in one item: all are kept, only those in use are stored, and urgent requests come first. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { operations } from '../../../lib/catalogue/index.ts';
import { limiterLimits, limitsOf } from '../../../lib/gateway/limits/operation-limits.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  type LimiterItem,
  type LimiterStore,
} from '../../../lib/limiter/index.ts';
import { Upstream } from '../world/upstream.ts';
import { World } from '../world/world.ts';

const minute = 60_000;
const marketData = operations.filter(({ limit, legacyOf }) => limit === 'market-data' && !legacyOf);
/** As deployed, where instruments are counted in another item. */
const {
  instruments: _,
  'instruments-callers': __,
  ...limits
} = limiterLimits({}, 1, {
  upstreamLimits: 'published',
  operations: marketData,
});
const namesOf = (id: string) =>
  limitsOf(operations.find((one) => one.id === id)!, {
    operationLimits: {},
    upstreamLimits: 'published',
  })!;

/** The most that any window of 60 s held of the requests of these times. */
const worst = (times: readonly number[]) => new Upstream(times).worstWindow();

/** A store that shows the item. */
function watched() {
  const inner = createMemoryLimiterStore();
  let last: LimiterItem | undefined;
  const store: LimiterStore = {
    ...inner,
    async replace(...given) {
      const answer = await inner.replace(...given);
      last = answer.item;
      return answer;
    },
  };
  return {
    store,
    endpoints: () => Object.keys(last?.counters ?? {}).filter((name) => /^endpoint\.[^/]*$/.test(name)),
    bytes: () => (last ? last.text.length + JSON.stringify(last.counters).length : 0),
  };
}

describe('every endpoint of market data has 60 a minute, and all together 300', () => {
  test('no window of any holds more, with clocks that are off and instances that freeze and die', async () => {
    for (const extreme of [false, true]) {
      const world = new World({
        seed: extreme ? 62 : 61,
        extreme,
        instances: 6,
        freezesPerMinute: 20,
        killsPerMinute: 6,
        limiter: { limits },
      });
      await world.live(3 * minute, [
        { perMinute: 150, limits: namesOf('getStockSnapshots') },
        { perMinute: 100, limits: namesOf('listStockBars'), priority: 'events' },
        { perMinute: 80, limits: namesOf('listStockTicks'), priority: 'background' },
        ...marketData.map(({ id }) => ({ perMinute: 4, limits: namesOf(id) })),
      ]);
      assert.ok(worst(world.sentUnder('market-data')) <= 300, `${worst(world.sentUnder('market-data'))}`);
      for (const { id } of marketData) {
        const most = worst(world.sentUnder(`endpoint.${id}`));
        assert.ok(most <= 60, `${id}: ${most}`);
      }
      assert.ok(world.sentUnder('endpoint.getStockSnapshots').length > 3 * 45);
    }
  });

  test('after its item was lost in part, no window of any holds more either', async () => {
    const world = new World({ seed: 63, instances: 10, limiter: { limits } });
    const demand = { perMinute: 600, limits: namesOf('getStockSnapshots') };
    await world.live(2 * minute + 20_000, [demand]);
    await world.store.spoil();
    await world.live(3 * minute, [demand]);
    assert.ok(worst(world.sentUnder('endpoint.getStockSnapshots')) <= 60);
    assert.ok(world.sentUnder('endpoint.getStockSnapshots').length > 3 * 45);
  });
});

describe('the item', () => {
  test('holds the endpoints that are in use, and drops them a window after their last request', async () => {
    let now = 1_795_000_000_000;
    const { store, endpoints, bytes } = watched();
    const limiter = createLimiter({ store, limits, bucket: 'test', clock: () => now });
    const ask = async (id: string) =>
      assert.ok((await limiter.acquire({ appKey: 'k', limits: namesOf(id) })).ok, id);
    await ask('getStockSnapshots');
    assert.deepEqual(endpoints(), ['endpoint.getStockSnapshots']);
    assert.ok(bytes() < 1024, `${bytes()} bytes`);
    now += 30_000;
    await ask('listStockBars');
    assert.deepEqual(endpoints(), ['endpoint.getStockSnapshots', 'endpoint.listStockBars']);
    now += 40_000;
    await ask('listStockTicks');
    assert.deepEqual(endpoints(), ['endpoint.listStockBars', 'endpoint.listStockTicks']);
  });

  test('stays small while endpoints are asked without a pause', async () => {
    for (const [count, max] of [
      [1, 2560],
      [5, 5120],
    ] as const) {
      let now = 1_795_000_000_000;
      const { store, bytes } = watched();
      const limiter = createLimiter({ store, limits, bucket: 'test', clock: () => now });
      let most = 0;
      for (let second = 0; second < 200; second++) {
        for (const { id } of marketData.slice(0, count))
          await limiter.acquire({ appKey: 'k', limits: namesOf(id), waitMs: 0 });
        now += 1100;
        most = Math.max(most, bytes());
      }
      assert.ok(most < max, `${count}: ${most} bytes`);
    }
  });

  test('keeps an idle endpoint that the upstream refused blocked', async () => {
    let now = 1_795_000_000_000;
    const { store } = watched();
    const create = () => createLimiter({ store, limits, bucket: 'test', clock: () => now });
    const [one, other] = [create(), create()];
    await one.block('k', 'endpoint.listStockBars', 200_000);
    for (let step = 0; step < 10; step++) {
      assert.ok((await other.acquire({ appKey: 'k', limits: namesOf('getStockSnapshots') })).ok);
      const blocked = await other.acquire({ appKey: 'k', limits: namesOf('listStockBars'), waitMs: 0 });
      assert.ok(!blocked.ok && blocked.reason === 'blocked');
      now += 15_000;
    }
  });

  test('keeps the longer of two blocks, in the instance that was refused twice and in others', async () => {
    let now = 1_795_000_000_000;
    const { store } = watched();
    const create = () => createLimiter({ store, limits, bucket: 'test', clock: () => now });
    const [one, other] = [create(), create()];
    const call = { appKey: 'k', limits: namesOf('listStockBars'), waitMs: 0 };
    const before = await one.acquire(call);
    for (const retryAfterMs of [20_000, 0]) await one.block('k', 'endpoint.listStockBars', retryAfterMs);
    assert.equal(before.ok && before.permit.consume(), false);
    now += 15_000;
    const later = await other.acquire(call);
    assert.ok(!later.ok && later.reason === 'blocked');
  });
});

test('under a narrow limit, too, urgent requests come before those that can wait', async () => {
  const world = new World({ seed: 64, instances: 10, limiter: { limits } });
  const of = namesOf('getStockSnapshots');
  await world.live(2 * minute, [{ perMinute: 600, limits: of, priority: 'background' }]);
  const from = world.served.length;
  await world.live(5 * minute, [
    { perMinute: 600, limits: of, priority: 'background' },
    { perMinute: 30, limits: of, priority: 'interactive' },
  ]);
  const served = world.served.slice(from).filter(({ priority }) => priority === 'interactive').length;
  assert.ok(served / 150 > 0.8, `${served} of about 150`);
});

test('while the store is away, two endpoints that the upstream refused pause all', async () => {
  let now = 1_795_000_000_000;
  const away = () => Promise.reject(new Error('away'));
  const limiter = createLimiter({
    store: { read: away, add: away, replace: away },
    limits,
    bucket: 'test',
    reserve: { instances: 1, part: 0.5 },
    clock: () => now,
  });
  const ask = async (id: string) => {
    const answer = await limiter.acquire({ appKey: 'k', limits: namesOf(id), waitMs: 0 });
    return answer.ok && answer.permit.consume();
  };
  // The reserve begins when the store has been away for a window.
  await ask('listStockBars');
  now += 2 * minute;
  for (const id of ['listStockBars', 'listStockTicks']) {
    assert.equal(await ask(id), true);
    await limiter.block('k', `endpoint.${id}`, 62_000);
  }
  assert.equal(await ask('getStockSnapshots'), false);
});
