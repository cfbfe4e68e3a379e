/** What a gateway in one process says and does after its machine's clock was put back or forward. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
} from '../../lib/gateway/index.ts';
import { accountsPath, ask, gatewayOf, snapshotTarget } from '../support/core.ts';
import { clockSteps } from '../world/fake-time.ts';
import { useFakeTime } from '../world/test-time.ts';

const { pass, passUntil, putClock } = useFakeTime(undefined, 5);

const profile = '/market-data/fundamentals/company-profiles/get?symbol=AAPL&category=US_STOCK';

/** A gateway with default clocks. What its upstream answers is the time, in milliseconds that no step moves. */
function tellingTime(fails: () => boolean = () => false, cache = createMemoryCacheStores()) {
  let sent = 0;
  const gateway = gatewayOf({
    cache,
    limiter: createLimiter({ store: createMemoryLimiterStore(), limits: limiterLimits(), bucket: 'test' }),
    async send({ url }) {
      sent++;
      if (fails()) throw new TypeError('connection refused');
      const one = `{"symbol":"AAPL","price":"${performance.now()}"}`;
      const text = url.includes('snapshot') ? `[${one}]` : one;
      return { kind: 'answer', status: 200, header: () => undefined, body: new TextEncoder().encode(text) };
    },
  });
  return { gateway, count: () => sent };
}

/** The age that an answer states, and the true one, in milliseconds. */
async function agesOf(gateway: ReturnType<typeof tellingTime>['gateway'], target: string) {
  const { status, text, headers } = await passUntil(ask(gateway, target));
  assert.equal(status, 200, text);
  const [, price] = /"price":"([\d.]+)"/.exec(text) ?? [];
  return { stated: Number(headers.age ?? 0) * 1000, true: performance.now() - Number(price) };
}

describe('an age is never less than the true one, and a new record comes as soon as without a step', () => {
  for (const [name, target, freshMs] of [
    ['quotes', snapshotTarget, 2000],
    ['shared answers', profile, 3_600_000],
  ] as const)
    for (const ms of clockSteps)
      test(`${name}, ${ms / 1000} s`, async () => {
        const { gateway, count } = tellingTime();
        for (let index = 0; index < 20; index++) {
          await agesOf(gateway, target);
          await pass(500);
        }
        const before = count();
        putClock(ms);
        const steppedAt = performance.now();
        let rightAfterMs = 0;
        for (let index = 0; index < 40; index++) {
          const age = await agesOf(gateway, target);
          // What stands in a header is whole seconds; the clock has whole milliseconds.
          assert.ok(age.stated >= age.true - 20, `${age.stated} for ${age.true} ms`);
          if (age.true > freshMs) rightAfterMs = performance.now() - steppedAt;
          await pass(500);
        }
        console.log(`  ${name}, ${ms / 1000} s: right after ${rightAfterMs} ms, ${count() - before} calls`);
        assert.ok(rightAfterMs <= 1000, `after ${rightAfterMs} ms`);
      });
});

describe('a lease in memory ends when it would have', () => {
  for (const ms of clockSteps)
    test(`of a fetch that was lost, ${ms / 1000} s`, async () => {
      const cache = createMemoryCacheStores();
      const responses = { ...cache.responses, write: async () => {} };
      await passUntil(ask(tellingTime(undefined, { ...cache, responses }).gateway, profile));
      putClock(ms);
      const steppedAt = performance.now();
      const other = tellingTime(undefined, cache);
      while ((await passUntil(ask(other.gateway, profile))).status !== 200)
        assert.ok(performance.now() - steppedAt < 15_000);
    });
});

describe('a back-off ends when it would have', () => {
  for (const ms of clockSteps)
    test(`gateway whose upstream was down, ${ms / 1000} s`, async () => {
      let isDown = true;
      const { gateway } = tellingTime(() => isDown);
      for (let index = 0; index < 10; index++) await passUntil(ask(gateway, accountsPath));
      isDown = false;
      putClock(ms);
      const steppedAt = performance.now();
      while ((await passUntil(ask(gateway, accountsPath))).status !== 200) {
        assert.ok(performance.now() - steppedAt < 15_000);
        await pass(250);
      }
    });
});
