/** What becomes of the budget when its store fails: a small share per instance, no hang, and back by itself. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { BudgetAnswer } from '../../lib/gateway/budget/index.ts';
import type { StoreFault } from './world/slow-store.ts';
import { createWorld, type WorldOptions } from './world/world.ts';

const minute = 60_000;
const instances = 20;

const worldFor = (options: Partial<WorldOptions> = {}) => {
  const { budget, ...others } = options;
  return createWorld({
    seed: 31,
    instances,
    ...others,
    budget: { ownShare: { instances }, ...budget },
  });
};

for (const fault of ['silent', 'throttled', 'slow', 'nonsense'] as const satisfies readonly StoreFault[])
  describe(`a store that is ${fault} for five minutes`, () => {
    test('gives way to a share per instance after a window, and then is used again', async () => {
      const world = worldFor();
      world.keepReports();
      // Everything is used just before, so that nothing is left of the window.
      for (let index = 0; index < 298; index++) void world.request();
      await world.live(2000, [{ perMinute: 600 }]);
      const down = world.clock.now;
      world.store.fault = () => fault;
      await world.live(minute, [{ perMinute: 600 }]);
      assert.ok(world.upstream.between(down + 4000, world.clock.now) === 0, 'nothing in the first window');
      await world.live(4 * minute, [{ perMinute: 600 }]);
      const shares = world.upstream.between(down + 2 * minute, world.clock.now) / 3;
      assert.ok(shares >= 100 && shares <= 150, `${shares} a minute from memory`);

      world.store.fault = () => undefined;
      await world.live(3 * minute, [{ perMinute: 600 }]);
      const from = world.clock.now;
      await world.live(2 * minute, [{ perMinute: 600 }]);
      const used = world.upstream.between(from, world.clock.now) / 600;
      assert.ok(used > 0.96, `${used} of the limit is used again`);
      assert.ok(world.upstream.worstWindow() <= 300, `${world.upstream.worstWindow()} in one window`);
      const kinds = new Set(world.reports.map(({ kind }) => kind));
      assert.ok(kinds.has('store_failed') && kinds.has('store_back'));
    });

    test('never hangs: each request is answered in its time, and told when to come again', async () => {
      const world = worldFor();
      await world.live(5000, [{ perMinute: 600 }]);
      world.store.fault = () => fault;
      const answers: { readonly answer: BudgetAnswer; readonly after: number }[] = [];
      for (let index = 0; index < 500; index++) {
        const asked = world.clock.now;
        void world
          .request({ waitMs: 1000 })
          .then((answer) => answers.push({ answer, after: world.clock.now - asked }));
        await world.clock.runUntil(world.clock.now + 100);
      }
      await world.clock.runUntil(world.clock.now + 2000);
      assert.equal(answers.length, 500);
      for (const { answer, after } of answers) {
        assert.ok(after <= 1600, `${after} ms`);
        if (!answer.ok) assert.ok(answer.retryAfterMs > 0 && answer.retryAfterMs < 2 * minute);
      }
      const reasons = answers.flatMap(({ answer }) => (answer.ok ? [] : [answer.reason]));
      assert.ok(reasons.filter((reason) => reason === 'store_away').length > 300);
    });

    test('is not stampeded: failing instances leave it alone for longer and longer', async () => {
      const world = worldFor();
      world.store.fault = () => fault;
      await world.live(minute, [{ perMinute: 6000 }]);
      const { reads, writes, failed } = world.operations;
      const each = (reads + writes + failed) / instances;
      assert.ok(each < 30, `${each} operations of each instance in a minute`);
    });
  });

describe('what is set aside', () => {
  test('is there from the first failure on, and is never in the store', async () => {
    const setAside = 0.1;
    const world = worldFor({ budget: { ownShare: { instances, setAside } } });
    for (let index = 0; index < 298; index++) void world.request();
    await world.live(1000, [{ perMinute: 600 }]);
    const before = world.upstream.between(0, world.clock.now + 1000);
    assert.ok(before <= 300 * (1 - setAside));
    const down = world.clock.now;
    world.store.fault = () => 'silent';
    await world.live(50_000, [{ perMinute: 600 }]);
    const given = world.upstream.between(down + 1000, world.clock.now);
    // 30 for 20 instances: one each.
    assert.ok(given > 10 && given <= instances, `${given} at once`);
    assert.ok(world.upstream.worstWindow() <= 300);
  });
});

describe('failures of some operations', () => {
  for (const share of [0.2, 0.5, 0.9])
    test(`${share * 100} % throttled: the limit is kept and nobody is cut off`, async () => {
      const world = worldFor();
      world.store.fault = () => (world.random() < share ? 'throttled' : undefined);
      await world.live(10 * minute, [{ perMinute: 600 }]);
      const used = world.counts.sent / 3000;
      console.log(
        `  budget, ${share * 100} % of the store's operations throttled: ${(100 * used).toFixed(1)} % used`,
      );
      assert.ok(world.upstream.worstWindow() <= 300);
      assert.ok(used > 0.2);
    });

  test('a store that comes and goes: the limit is kept', async () => {
    for (let seed = 40; seed < 46; seed++) {
      const world = worldFor({ seed });
      const faults = ['silent', 'slow', 'throttled', 'nonsense', undefined, undefined] as const;
      for (let phase = 0; phase < 15; phase++) {
        const fault = faults[Math.floor(world.random() * faults.length)];
        world.store.fault = () => fault;
        await world.live(world.random() * 2 * minute, [{ perMinute: 100 + world.random() * 2000 }]);
      }
      const worst = world.upstream.worstWindow();
      assert.ok(worst <= 300, `seed ${seed}: ${worst}`);
    }
  });

  test('one instance that cannot reach the store, while the others can, is covered', async () => {
    const world = worldFor({ budget: { ownShare: { instances: 100 } } });
    // It has one permission a window: what is held back is more.
    const lonely = world.lone('silent');
    const until = world.clock.now + 10 * minute;
    const ask = () => {
      void world.requestOf(lonely, { waitMs: 1000 });
      if (world.clock.now < until) world.clock.after(3000, ask);
    };
    ask();
    await world.live(10 * minute, [{ perMinute: 600 }]);
    assert.ok(world.upstream.worstWindow() <= 300);
  });
});

test('an item that nobody can read is taken for a full window, and a window later all is well', async () => {
  const world = worldFor();
  await world.live(5000, [{ perMinute: 600 }]);
  await world.store.spoil();
  const from = world.clock.now;
  await world.live(minute, [{ perMinute: 600 }]);
  assert.ok(world.upstream.between(from + 5000, world.clock.now) === 0);
  await world.live(2 * minute, [{ perMinute: 600 }]);
  assert.ok(world.upstream.between(from + 1.2 * minute, world.clock.now) > 0.9 * 1.8 * 288);
});
