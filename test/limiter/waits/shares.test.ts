/** Users who share a limit: whatever some of them ask for, there is room for one who asks for little. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  createLimiter,
  createMemoryLimiterStore,
  type LimiterStore,
  windowOf,
} from '../../../lib/limiter/index.ts';
import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';

const limits = ['orders'] as const;

/** Instances on one store, whose every operation takes some milliseconds. */
function fleetOf(limit: { readonly requests: number; readonly perSeconds: number }, count: number, seed = 1) {
  const time = new VirtualTime();
  const random = createRandom(seed);
  const inner = createMemoryLimiterStore();
  const item: { counters: Readonly<Record<string, number>>; operations: number } = {
    counters: {},
    operations: 0,
  };
  const slow = async <T>(work: () => Promise<T>): Promise<T> => {
    item.operations++;
    await time.sleep(2 + random() * 20);
    const done = await work();
    item.counters = (await inner.read('k'))?.counters ?? {};
    await time.sleep(2 + random() * 20);
    return done;
  };
  const store: LimiterStore = {
    read: (...given) => slow(() => inner.read(...given)),
    add: (...given) => slow(() => inner.add(...given)),
    replace: (...given) => slow(() => inner.replace(...given)),
  };
  const instances = Array.from({ length: count }, () =>
    createLimiter({
      store,
      limits: { orders: limit },
      bucket: 'b',
      keyOf: () => 'k',
      clock: time.now,
      after: time.after,
      random,
    }),
  );
  const sent: { readonly user: string | undefined; readonly at: number }[] = [];
  async function ask(user: string | undefined, instance = Math.floor(random() * count), waitMs = 2000) {
    const asked = { appKey: 'a', limits, waitMs, ...(user !== undefined && { user }) };
    const answer = await instances[instance]!.acquire(asked);
    if (answer.ok && answer.permit.consume()) sent.push({ user, at: time.now() });
    return answer;
  }
  /** The answer, and the time until it came has passed. */
  const askNow = (...given: Parameters<typeof ask>) => time.passUntil(ask(...given), 10);
  return { time, ask, askNow, sent, item, window: windowOf(limit) };
}

const shares = (counters: Readonly<Record<string, number>>) =>
  Object.keys(counters).filter((name) => name.includes('@'));

describe('greedy users, and one who asks once in a window', () => {
  // Of the limits that the upstream has: of two requests one user leaves one, and two leave none.
  const crowd = fc.oneof(
    fc.record({ limit: fc.constant({ requests: 2, perSeconds: 2 }), greedy: fc.constant(1) }),
    fc.record({
      limit: fc.constantFrom({ requests: 60, perSeconds: 6 }, { requests: 200, perSeconds: 20 }),
      greedy: fc.integer({ min: 1, max: 4 }),
    }),
  );
  const scenario = fc.record({
    crowd,
    instances: fc.integer({ min: 1, max: 5 }),
    everyMs: fc.integer({ min: 20, max: 200 }),
    seed: fc.nat(),
  });

  test('the one is never refused, none of the greedy has much less than another, and the limit holds', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ crowd: { limit, greedy }, instances, everyMs, seed }) => {
        const { time, ask, sent, window } = fleetOf(limit, instances, seed);
        const start = time.now();
        const windows = 4;
        const end = windows * window.windowMs;
        for (let user = 0; user < greedy; user++)
          for (let at = user; at < end; at += everyMs) time.after(at, () => void ask(`greedy-${user}`));
        const modest: Promise<boolean>[] = [];
        for (let nth = 0; nth < windows; nth++)
          time.after(nth * (window.windowMs + 500) + ((seed + nth * 977) % 1000), () =>
            modest.push(ask('modest').then(({ ok }) => ok)),
          );
        await time.runUntil(start + end + 10_000);
        assert.deepEqual(await Promise.all(modest), new Array(windows).fill(true));
        const times = sent.map(({ at }) => at).sort((a, b) => a - b);
        for (const [index, at] of times.entries())
          assert.ok(
            (times[index + limit.requests] ?? Number.POSITIVE_INFINITY) - at >= limit.perSeconds * 1000,
          );
        const fair = (windows * window.capacity) / (greedy + 1);
        const asked = end / everyMs;
        for (let user = 0; user < greedy; user++) {
          const own = sent.filter((one) => one.user === `greedy-${user}`).length;
          assert.ok(own >= 0.4 * Math.min(fair, asked), `${own} of ${fair}, ${asked} asked`);
        }
      }),
      // What chance makes of it is the same each time. In the example the greedy begin a window at the same moment, in which
      // each instance counts with what the others have not written yet.
      {
        seed: 1,
        numRuns: 30,
        examples: [
          [
            {
              crowd: { limit: { requests: 60, perSeconds: 6 }, greedy: 4 },
              instances: 5,
              everyMs: 79,
              seed: 10,
            },
          ],
        ],
      },
    );
  });

  test('a user who asks for less than half is refused nothing', async () => {
    const { time, ask, window } = fleetOf({ requests: 200, perSeconds: 30 }, 3);
    const answers: Promise<boolean>[] = [];
    const half = window.windowMs / (0.45 * window.capacity);
    for (let nth = 0; nth < 300; nth++)
      time.after(nth * half, () => answers.push(ask('alone').then(({ ok }) => ok)));
    await time.runUntil(time.now() + 300 * half + 5000);
    assert.ok((await Promise.all(answers)).every(Boolean));
  });
});

describe('a share that is used up', () => {
  test('is told as that, and has room at the time that is told', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4, max: 80 }), fc.nat(), async (requests, seed) => {
        const { time, askNow, sent, window } = fleetOf({ requests, perSeconds: 10 }, 1, seed);
        let refusal = await askNow('one', 0, 0);
        for (let asked = 0; refusal.ok || refusal.reason !== 'share_exhausted'; asked++) {
          assert.ok(asked < 1000, 'a share has an end');
          await time.runUntil(time.now() + 20);
          refusal = await askNow('one', 0, 0);
        }
        assert.ok(Math.abs(sent.length - window.capacity / 2) <= 1 + window.capacity / 128, `${sent.length}`);
        assert.equal('usedUp' in refusal, false);
        assert.ok((await askNow('another', 0, 500)).ok);
        await time.runUntil(time.now() + refusal.retryAfterMs + window.windowMs / 16 + 1);
        assert.ok((await askNow('one', 0, 1000)).ok);
      }),
      { numRuns: 20 },
    );
  });
});

describe('the item', () => {
  const limit = { requests: 600, perSeconds: 60 };

  test('knows nothing of users with few requests, who cost it no further operation', async () => {
    const operationsWith = async (user: (nth: number) => string | undefined) => {
      const { time, askNow, item } = fleetOf(limit, 1);
      for (let nth = 0; nth < 40; nth++) {
        assert.ok((await askNow(user(nth), 0)).ok);
        assert.deepEqual(shares(item.counters), []);
        await time.runUntil(time.now() + 1000);
      }
      return item.operations;
    };
    const without = await operationsWith(() => undefined);
    assert.equal(await operationsWith((nth) => `user-${nth % 10}`), without);
  });

  test('knows a user with many, without an operation more for a permit, until a window after the last', async () => {
    const { time, askNow, item, window } = fleetOf(limit, 1);
    for (let nth = 0; nth < 60; nth++) {
      const before = item.operations;
      assert.ok((await askNow('busy', 0)).ok);
      assert.ok(item.operations - before <= 2, 'a read and a write');
      await time.runUntil(time.now() + 1000);
    }
    assert.deepEqual(shares(item.counters), ['orders@busy']);
    await time.runUntil(time.now() + window.windowMs + 5000);
    assert.ok((await askNow('another', 0)).ok);
    assert.deepEqual(shares(item.counters), []);
  });

  test('holds no more users than its conditions have room for', async () => {
    const { askNow, item, window } = fleetOf({ requests: 2000, perSeconds: 60 }, 1);
    const uncounted = Math.floor(window.capacity / 128);
    for (let user = 0; user < 70; user++)
      for (let nth = 0; nth <= uncounted; nth++) assert.ok((await askNow(`user-${user}`, 0)).ok);
    assert.equal(shares(item.counters).length, 64);
  });
});
