/** Clocks that are wrong, are put right, or stand still: what was read is never older than it may be. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { createControls, maxControlAgeMs } from '../../lib/guard-rails/controls.ts';
import { createGuard } from '../../lib/guard-rails/guard.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { createSharedLastPrices } from '../../lib/guard-rails/shared-last-prices.ts';
import { createStoreTime } from '../../lib/guard-rails/store-time.ts';
import { createAges } from '../../lib/kernel/age.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { newOrder } from '../support/orders.ts';

const startedAt = Date.UTC(2026, 10, 20, 15);

/** A wall clock that is off, a monotonic one, and the truth. */
function startClocks(offMs: number) {
  const state = { true: startedAt, off: offMs, monotonic: 500 };
  return {
    state,
    wall: () => state.true + state.off,
    monotonic: () => state.monotonic,
    pass(ms: number) {
      state.true += ms;
      state.monotonic += ms;
    },
    /** The machine is suspended. */
    freeze(ms: number) {
      state.true += ms;
    },
  };
}

describe('a stop', () => {
  for (const aheadMs of [30_000, 120_000, 3_600_000])
    test(`counts after five seconds, where a clock was ${aheadMs / 1000} s ahead and is put right`, async () => {
      const { state, wall, monotonic, pass } = startClocks(aheadMs);
      const store = createMemoryControls();
      const controls = createControls(store, wall, monotonic);
      await controls.read(['stack']);
      pass(10);
      state.off = 0;
      store.set('stack', { limits: {}, stopped: { at: wall() } });
      pass(maxControlAgeMs);
      assert.ok((await controls.read(['stack'])).controls.get('stack')?.stopped);
    });

  test('counts after five seconds, those included in which the machine was suspended', async () => {
    const { wall, monotonic, freeze } = startClocks(0);
    const store = createMemoryControls();
    const controls = createControls(store, wall, monotonic);
    await controls.read(['stack']);
    store.set('stack', { limits: {}, stopped: { at: 1 } });
    freeze(maxControlAgeMs);
    assert.ok((await controls.read(['stack'])).controls.get('stack')?.stopped);
  });

  test('is not undone by an earlier read that comes late, whatever the clock does', async () => {
    const { state, wall, monotonic, pass } = startClocks(3_600_000);
    const store = createMemoryControls();
    const answers: (() => void)[] = [];
    const slow = {
      async read(keys: readonly string[]) {
        const found = await store.read(keys);
        await new Promise<void>((resolve) => answers.push(resolve));
        return found;
      },
    };
    const controls = createControls(slow, wall, monotonic);
    const first = controls.read(['stack']);
    await Promise.resolve();
    state.off = 0;
    store.set('stack', { limits: {}, stopped: { at: 1 } });
    const second = controls.read(['stack']);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(answers.length, 2);
    answers[1]!();
    await second;
    answers[0]!();
    await first;
    pass(10);
    assert.ok((await controls.read(['stack'])).controls.get('stack')?.stopped);
  });
});

test('the age of what was read is never less than what has passed, by whatever steps of the clocks', () => {
  const step = fc.record({
    ms: fc.nat({ max: 10_000 }),
    how: fc.constantFrom('pass', 'freeze', 'forwards', 'right'),
  });
  fc.assert(
    fc.property(fc.nat({ max: 3_600_000 }), fc.array(step, { maxLength: 20 }), (offMs, steps) => {
      const clocks = startClocks(offMs);
      const ages = createAges(clocks.wall, clocks.monotonic);
      const readAt = ages.now();
      let [awake, frozen] = [0, 0];
      for (const { ms, how } of steps) {
        if (how === 'pass') clocks.pass(ms);
        if (how === 'freeze') clocks.freeze(ms);
        if (how === 'forwards') clocks.state.off += ms;
        if (how === 'right') clocks.state.off = 0;
        if (how === 'pass') awake += ms;
        if (how === 'freeze') frozen += ms;
      }
      assert.ok(ages.since(readAt) >= awake);
      const isPutBack = clocks.state.off < offMs;
      if (!isPutBack) assert.ok(ages.since(readAt) >= awake + frozen);
    }),
  );
});

describe('a last price', () => {
  test('that a clock dated which was an hour ahead is not used when that is put right, and not kept', async () => {
    const { state, wall, monotonic, pass } = startClocks(3_600_000);
    let calls = 0;
    const prices = createSharedLastPrices({
      clock: wall,
      monotonic,
      upstreamRead: async () => ({ kind: 'found', found: { price: `${++calls}`, at: wall() } }),
    });
    const ask = () => prices.lastPrice('AAPL', 15_000, wall() + 2000);
    assert.equal((await ask())?.price, '1');
    state.off = 0;
    pass(16_000);
    assert.equal((await ask())?.price, '2');
    pass(10_000);
    assert.equal((await ask())?.price, '2');
    pass(6000);
    assert.equal((await ask())?.price, '3');
  });

  test('is as old as it is known here, where a clock is put back by less than that', async () => {
    const { state, wall, monotonic, pass } = startClocks(10_000);
    let calls = 0;
    const prices = createSharedLastPrices({
      clock: wall,
      monotonic,
      upstreamRead: async () => ({ kind: 'found', found: { price: `${++calls}`, at: wall() } }),
    });
    const ask = () => prices.lastPrice('AAPL', 15_000, wall() + 2000);
    await ask();
    pass(16_000);
    state.off = 0;
    assert.equal((await ask())?.price, '2');
  });
});

describe('orders of a minute', () => {
  /** Instances whose clocks are off by so much, one journal, and the dates of its answers. */
  function startFleet(offs: readonly number[], limit: number) {
    const state = { now: startedAt };
    const journal = createMemoryOrderJournal();
    const controls = createMemoryControls();
    controls.set('stack', { limits: { max_orders_per_minute: limit } });
    const instances = offs.map((off) => {
      const clock = () => state.now + off;
      const time = createStoreTime(clock);
      const guard = createGuard({
        controls,
        names: { nameOf: async (...texts) => texts.join(' ') },
        clock,
        storeTime: time.now,
      });
      return { clock, time, guard };
    });
    /** @returns whether the order left */
    async function order(index: number, tookMs: number): Promise<boolean> {
      const { clock, time, guard } = instances[index]!;
      const askedAt = clock();
      state.now += Math.floor(tookMs / 2);
      const date = Math.floor(state.now / 1000) * 1000;
      state.now += Math.ceil(tookMs / 2);
      time.dated(date, askedAt, clock());
      guard.learn(await journal.counters(['counter stack']));
      const verdict = await guard.verdict({
        account: 'a',
        orders: [{ json: JSON.stringify(newOrder()), at: '/0' }],
        endBy: clock() + 1000,
      });
      if (verdict.kind !== 'allowed') return false;
      assert.equal(await journal.change({ counters: verdict.counters, exposures: [] }), 'changed');
      return true;
    }
    return { state, order };
  }

  test('are as many as the limit, where two clocks are a minute apart', async () => {
    const { state, order } = startFleet([0, 60_000], 10);
    let left = 0;
    for (let index = 0; index < 20; index++) {
      if (await order(index < 10 ? 0 : 1, 20)) left++;
      state.now += 100;
    }
    assert.equal(left, 10);
  });

  test('are never more than the limit, however far clocks are off', async () => {
    const orders = fc.array(
      fc.record({
        instance: fc.nat({ max: 2 }),
        afterMs: fc.nat({ max: 20_000 }),
        tookMs: fc.nat({ max: 900 }),
        leavesMs: fc.nat({ max: 5000 }),
      }),
      { maxLength: 40 },
    );
    const off = fc.integer({ min: -3_600_000, max: 3_600_000 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(off, off, off), orders, async (offs, asked) => {
        const { state, order } = startFleet(offs, 3);
        const left: number[] = [];
        for (const { instance, afterMs, tookMs, leavesMs } of asked) {
          state.now += afterMs;
          if (await order(instance, tookMs)) left.push(state.now + leavesMs);
        }
        for (const at of left) assert.ok(left.filter((one) => one <= at && one > at - 60_000).length <= 3);
      }),
      { numRuns: 300 },
    );
  });
});
