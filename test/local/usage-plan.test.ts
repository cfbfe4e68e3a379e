import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { createUsagePlan } from '../../infra/local/usage-plan.ts';
import { limits } from '../../lib/catalogue/limits.ts';
import { appPlan, planOfTier, planWithin } from '../../lib/catalogue/plans.ts';

/** A meter and a clock that stands still until it is moved. */
function meterAt(plan: { ratePerSecond: number; burst: number }) {
  const clock = { now: 1_000_000 };
  return { clock, meter: createUsagePlan({ ...plan, clock: () => clock.now }) };
}

/** How many of the times lie in the fullest window of the given length, both ends included. */
function fullestWindow(times: readonly number[], length: number): number {
  return Math.max(
    0,
    ...times.map((start) => times.filter((at) => at >= start && at <= start + length).length),
  );
}

describe('the token bucket', () => {
  test('starts full, and gives no more than it holds', () => {
    const { meter } = meterAt({ ratePerSecond: 4, burst: 3 });
    const admissions = [1, 2, 3, 4].map(() => meter.take('a'));
    assert.deepEqual(admissions, [
      { allowed: true },
      { allowed: true },
      { allowed: true },
      { allowed: false, retryAfterMs: 250 },
    ]);
  });

  test('refills with time and never beyond its capacity', () => {
    const { meter, clock } = meterAt({ ratePerSecond: 4, burst: 2 });
    meter.take('a');
    meter.take('a');
    clock.now += 249;
    assert.deepEqual(meter.take('a'), { allowed: false, retryAfterMs: 1 });
    clock.now += 1;
    assert.equal(meter.take('a').allowed, true);
    clock.now += 3_600_000;
    assert.deepEqual(
      [1, 2, 3].map(() => meter.take('a').allowed),
      [true, true, false],
    );
  });

  test('one key’s requests take nothing from another’s', () => {
    const { meter } = meterAt({ ratePerSecond: 1, burst: 1 });
    meter.take('a');
    assert.equal(meter.take('a').allowed, false);
    assert.equal(meter.take('b').allowed, true);
  });

  test('a clock that is set back gives nothing, and the refill goes on from there', () => {
    const { meter, clock } = meterAt({ ratePerSecond: 1, burst: 1 });
    meter.take('a');
    clock.now -= 3_600_000;
    assert.deepEqual(meter.take('a'), { allowed: false, retryAfterMs: 1000 });
    clock.now += 1000;
    assert.equal(meter.take('a').allowed, true);
  });

  test('after the time it names there is a token, and one millisecond earlier there is none', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.nat(400)),
        (ratePerSecond, burst, pauses) => {
          const { meter, clock } = meterAt({ ratePerSecond, burst });
          for (const pause of pauses) {
            clock.now += pause;
            const admission = meter.take('a');
            if (admission.allowed) continue;
            clock.now += admission.retryAfterMs - 1;
            assert.equal(meter.take('a').allowed, false);
            clock.now += 1;
            assert.equal(meter.take('a').allowed, true);
          }
        },
      ),
    );
  });

  for (const plan of [
    { ratePerSecond: 0, burst: 1 },
    { ratePerSecond: Number.NaN, burst: 1 },
    { ratePerSecond: 1, burst: 0 },
    { ratePerSecond: 1, burst: 1.5 },
  ]) {
    test(`a plan that could never work is refused: ${plan.ratePerSecond}/s, burst ${plan.burst}`, () => {
      assert.throws(() => createUsagePlan(plan), RangeError);
    });
  }
});

describe('the plan derived from a limit', () => {
  test('300 a minute: 60 at once, 4 more each second', () => {
    assert.deepEqual(planWithin(limits['market-data']), { ratePerSecond: 4, burst: 60 });
  });

  test('burst and refill of one window fit in the limit, and leave less than one thousandth a second', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 100_000 }),
        fc.integer({ min: 1, max: 600 }),
        (requests, perSeconds) => {
          const { ratePerSecond, burst } = planWithin({ requests, perSeconds });
          // In thousandths, so that the sum is exact.
          const used = burst * 1000 + perSeconds * Math.round(ratePerSecond * 1000);
          assert.ok(used <= requests * 1000);
          assert.ok(used > requests * 1000 - perSeconds);
        },
      ),
    );
  });

  test('no arrival pattern gets a key more than the limit in any window', () => {
    const limit = fc.record({
      requests: fc.integer({ min: 2, max: 60 }),
      perSeconds: fc.integer({ min: 1, max: 10 }),
    });
    // Mostly dense, with pauses in which the bucket fills up again.
    const gaps = fc.array(
      fc.oneof({ weight: 20, arbitrary: fc.nat(30) }, { weight: 1, arbitrary: fc.nat(12_000) }),
      { minLength: 100, maxLength: 400, size: 'max' },
    );
    fc.assert(
      fc.property(limit, gaps, ({ requests, perSeconds }, pauses) => {
        const { meter, clock } = meterAt(planWithin({ requests, perSeconds }));
        const granted: number[] = [];
        for (const pause of pauses) {
          clock.now += pause;
          if (meter.take('a').allowed) granted.push(clock.now);
        }
        assert.ok(fullestWindow(granted, perSeconds * 1000) <= requests);
      }),
    );
  });

  test('a client that asks every millisecond gets exactly the limit in the first window, not one more', () => {
    const limit = limits['market-data'];
    const { meter, clock } = meterAt(planWithin(limit));
    const granted: number[] = [];
    for (const end = clock.now + 2 * limit.perSeconds * 1000; clock.now <= end; clock.now += 1) {
      if (meter.take('a').allowed) granted.push(clock.now);
    }
    assert.equal(fullestWindow(granted, limit.perSeconds * 1000), limit.requests);
  });

  test('a limit that leaves nothing for the refill is refused', () => {
    assert.throws(() => planWithin({ requests: 1, perSeconds: 60 }), RangeError);
    assert.throws(() => planWithin({ requests: 300, perSeconds: 0 }), RangeError);
  });
});

describe('the plan of an app', () => {
  /** API Gateway's, for an account and Region, unless it is raised. */
  const account = { ratePerSecond: 10_000, burst: 5000 };
  const phones = 10_000;
  const everyMs = 5000;

  test('leaves something of the account to other keys', () => {
    assert.ok(appPlan.ratePerSecond < account.ratePerSecond / 2);
    assert.ok(appPlan.burst < account.burst);
  });

  for (const withinMs of [3000, 5000])
    test(`ten thousand phones that all come within ${withinMs / 1000} s, and again every five, are let through`, () => {
      const { meter, clock } = meterAt(appPlan);
      const start = clock.now;
      for (let round = 0; round < 3; round++)
        for (let phone = 0; phone < phones; phone++) {
          clock.now = start + round * everyMs + Math.floor((phone * withinMs) / phones);
          assert.ok(meter.take('ios').allowed, `phone ${phone} of round ${round}`);
        }
    });

  test('tiers by name; the limit matters to one of them only', () => {
    assert.deepEqual(planOfTier('upstream'), planWithin(limits['market-data']));
    const narrow = { requests: 30, perSeconds: 60 };
    assert.deepEqual(planOfTier('upstream', narrow), planWithin(narrow));
    assert.deepEqual(planOfTier('app', narrow), appPlan);
  });
});
