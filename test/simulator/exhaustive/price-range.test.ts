import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { farthest } from '../../../infra/simulator/market/price-path.ts';
import { type Minute, priceOf, rangeOf } from '../../../infra/simulator/market/prices.ts';
import { createUniverse } from '../../../infra/simulator/market/universe.ts';

const instruments = [...createUniverse(1).values()];
const instrument = fc.constantFrom(...instruments);
const session = fc.constantFrom('regular', 'extended', 'overnight');
const day = fc.integer({ min: 16_900, max: 24_000 });

test('the highest and lowest price of a time are those of all its minutes', () => {
  const minute = fc.oneof(fc.integer({ min: 0, max: 1440 }), fc.double({ min: 0, max: 1440, noNaN: true }));
  const length = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(12) });
  fc.assert(
    fc.property(instrument, session, day, length, minute, minute, (one, where, first, days, a, b) => {
      const [from, to] = [
        { day: first, minute: days === 0 ? Math.min(a, b) : a },
        { day: first + days, minute: days === 0 ? Math.max(a, b) : b },
      ];
      assert.deepEqual(rangeOf(one, from, to, where), everyMinute(from, to));

      function everyMinute(start: Minute, end: Minute) {
        const prices = [priceOf(one, start, where), priceOf(one, end, where)];
        for (let at = start.day; at <= end.day; at++)
          for (let whole = 0; whole <= 1440; whole++)
            if ((at > start.day || whole >= start.minute) && (at < end.day || whole <= end.minute))
              prices.push(priceOf(one, { day: at, minute: whole }, where));
        return { high: Math.max(...prices), low: Math.min(...prices) };
      }
    }),
    { numRuns: 150 },
  );
});

test('no price is ever farther from the base price than the path can go', () => {
  fc.assert(
    fc.property(instrument, session, day, fc.nat(1440), (one, where, when, minute) => {
      const ratio = priceOf(one, { day: when, minute }, where) / (100 * one.basePrice);
      // Half a cent is lost to rounding.
      const slack = 1 + 0.01 / one.basePrice;
      assert.ok(ratio < farthest(one) * slack && ratio > 1 / (farthest(one) * slack));
    }),
    { numRuns: 2000 },
  );
});
