/** A limiter in one process whose machine's clock is put back or forward: it goes on, and no window holds more. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createLimiter, createMemoryLimiterStore } from '../../lib/limiter/index.ts';
import { clockSteps } from '../world/fake-time.ts';
import { useFakeTime } from '../world/test-time.ts';

const { pass, passUntil, putClock } = useFakeTime(undefined, 10);

const limit = 60;
const windowMs = 60_000;

/** Asks for a permit each so often; the moments at which requests left. */
async function ask(limiter: ReturnType<typeof createLimiter>, everyMs: number, forMs: number) {
  const sentAt: number[] = [];
  const end = performance.now() + forMs;
  for (let at = performance.now(); at < end; at += everyMs) {
    await pass(at - performance.now());
    const call = limiter.acquire({ appKey: 'key', limits: ['api'], waitMs: everyMs / 2 });
    const answer = await passUntil(call);
    if (answer.ok && answer.permit.consume()) sentAt.push(performance.now());
  }
  await pass(end - performance.now());
  return sentAt;
}

const worstWindow = (sentAt: readonly number[]) =>
  Math.max(...sentAt.map((from) => sentAt.filter((at) => at >= from && at < from + windowMs).length));

const options = () => ({
  store: createMemoryLimiterStore(),
  bucket: 'test',
  limits: { api: { requests: limit, perSeconds: 60 } },
  // A hash takes turns of the true event loop, in each of which time passes here.
  keyOf: () => 'key',
  random: () => 0.5,
});

/** How long a limiter whose window is full grants nothing after a step. */
async function refusedForMs(ms: number, given = options()): Promise<number> {
  const limiter = createLimiter(given);
  await ask(limiter, 250, 30_000);
  putClock(ms);
  const steppedAt = performance.now();
  while ((await ask(limiter, 250, 250)).length === 0)
    if (performance.now() - steppedAt > 90_000) return Number.POSITIVE_INFINITY;
  return performance.now() - steppedAt;
}

for (const ms of clockSteps)
  describe(`a step of ${ms / 1000} s`, () => {
    test('leaves no window more than the limit, also with a limiter that began after it', async () => {
      const shared = options();
      const limiter = createLimiter(shared);
      const sentAt = await ask(limiter, 250, 130_000);
      putClock(ms);
      const other = createLimiter(shared);
      for (let index = 0; index < 13; index++)
        sentAt.push(...(await ask(index % 2 ? limiter : other, 250, 10_000)));
      assert.ok(worstWindow(sentAt) <= limit, `${worstWindow(sentAt)} in one window`);
    });

    test('neither ends nor prolongs a refusal by more than a second', async () => {
      const [expected, found] = [await refusedForMs(0), await refusedForMs(ms)];
      console.log(`  ${ms / 1000} s: refused for ${found} ms, without a step for ${expected} ms`);
      assert.ok(Math.abs(found - expected) <= 1000, `for ${found} ms instead of ${expected}`);
    });

    test('does not prolong a refusal where machines share the store', async () => {
      const { isOfOneProcess: _, ...store } = createMemoryLimiterStore();
      const [expected, found] = [await refusedForMs(0), await refusedForMs(ms, { ...options(), store })];
      assert.ok(found <= expected + 1000, `for ${found} ms instead of ${expected}`);
    });
  });
