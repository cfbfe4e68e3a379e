/** What all instances know of the limits in force, over any store of the limiter. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createLimitsInForce, type LimiterStore, limitsInForceKey } from '../../lib/gateway/index.ts';

let keys = 0;

export function limitsInForceContract(name: string, storeOf: () => LimiterStore): void {
  const check = (what: string, run: (world: ReturnType<typeof worldOf>) => Promise<void>) =>
    test(`${name}, limits in force: ${what}`, () => run(worldOf(storeOf())));

  check('are the configured ones until an instance tightens them, then tighter for all', async (world) => {
    const [one, other] = [world.instance(), world.instance()];
    assert.deepEqual([await one.current(), await other.current()], [0, 0]);
    await one.tighten(1);
    assert.deepEqual([one.known, other.known], [1, 0]);
    world.now += 30_000;
    assert.equal(await other.current(), 1);
    // An instance that starts later, with a memory of its own.
    assert.equal(await world.instance().current(), 1);
  });

  check('are read once in half a minute', async (world) => {
    const one = world.instance();
    for (let second = 0; second < 60; second++) {
      await Promise.all([one.current(), one.current()]);
      world.now += 1000;
    }
    assert.equal(world.reads, 2);
  });

  check('take one step, however many instances were refused at once, and never go back', async (world) => {
    const many = Array.from({ length: 8 }, () => world.instance());
    await Promise.all(many.map((one) => one.tighten(1)));
    assert.equal(await world.instance().current(), 1);
    await many[0]!.tighten(2);
    await many[1]!.tighten(1);
    assert.equal(await world.instance().current(), 2);
    assert.equal(many[1]!.known, 2);
  });

  check('of another choice are its own', async (world) => {
    await world.instance().tighten(1);
    assert.equal(await world.instance('published').current(), 0);
  });

  check('end when the item goes or says nothing', async (world) => {
    const one = world.instance();
    await one.tighten(2);
    await world.forget();
    world.now += 30_000;
    assert.equal(await one.current(), 0);
  });

  check('are kept by the instance itself while the store is away, and stored afterwards', async (world) => {
    const one = world.instance();
    assert.equal(await one.current(), 0);
    world.isAway = true;
    await one.tighten(1);
    world.now += 30_000;
    assert.equal(await one.current(), 1);
    assert.equal(await world.instance().current(), 0);
    world.isAway = false;
    world.now += 5000;
    assert.equal(await one.current(), 1);
    assert.equal(await world.instance().current(), 1);
  });
}

function worldOf(inner: LimiterStore) {
  const bucket = `in-force-${++keys}`;
  const world = {
    now: Date.UTC(2026, 10, 17),
    reads: 0,
    isAway: false,
    instance(configured: 'interface' | 'published' = 'interface') {
      const key = limitsInForceKey(bucket, configured);
      const after = (ms: number, run: () => void) => {
        const timer = setTimeout(run, 100 * ms);
        return () => clearTimeout(timer);
      };
      return createLimitsInForce({ store, key, clock: () => world.now, after });
    },
    async forget() {
      const key = limitsInForceKey(bucket, 'interface');
      const item = await inner.read(key);
      await inner.replace(key, item, { ...item!, revision: 'ended', text: '{}' }, world.now);
    },
  };
  const unlessAway = async <T>(run: () => Promise<T>): Promise<T> => {
    if (world.isAway) throw new Error('away');
    return run();
  };
  const store: LimiterStore = {
    ...inner,
    read: (key) => {
      world.reads++;
      return unlessAway(() => inner.read(key));
    },
    replace: (...given) => unlessAway(() => inner.replace(...given)),
  };
  return world;
}
