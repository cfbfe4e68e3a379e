/** Random histories of orders, and the first one after which the open notional is wrong. */

import fc from 'fast-check';
import { type ExposureSubject, ExposureWorld, type How, type Terms } from './exposure-world.ts';

const limits = { stack: '900', accounts: { a: '700', b: '400' } };

const account = fc.constantFrom('a', 'a', 'a', 'b');
const id = fc.constantFrom(1, 1, 1, 2).map((number) => `order-number-${number}`);
const quantity = fc.constantFrom('1', '2', '5', '9.5', '12', '30');
const price = fc.constantFrom('0.5', '1', '2.25', '4', '6');
const how: fc.Arbitrary<How> = fc.record({
  fate: fc.constantFrom('answered', 'answered', 'answered', 'refused', 'answer lost', 'lost', 'late', 'late'),
  instance: fc.integer({ min: 0, max: 2 }),
  failsIn: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
  failsAfter: fc.boolean(),
});

const limitOrder = fc.record({ order_type: fc.constant('LIMIT'), quantity, limit_price: price });
const placed: fc.Arbitrary<Terms> = fc.oneof(
  { weight: 4, arbitrary: limitOrder },
  {
    weight: 1,
    arbitrary: fc.record({
      order_type: fc.constant('STOP_LOSS'),
      quantity,
      stop_price: fc.constantFrom('6', '8'),
    }),
  },
);
const replaced: fc.Arbitrary<Terms> = fc.oneof(
  fc.record({ quantity }),
  fc.record({ limit_price: price }),
  fc.record({ quantity: fc.constant(null), limit_price: price }),
  fc.record({ quantity, limit_price: price }),
  fc.record({ order_type: fc.constant('STOP_LOSS'), stop_price: fc.constantFrom('6', '8') }),
  limitOrder,
);

interface Step {
  readonly says: string;
  readonly take: (world: ExposureWorld) => Promise<unknown>;
}

const step = (says: string, take: Step['take']): Step => ({ says, take });

const fine: How = { fate: 'answered', instance: 0, failsIn: 0, failsAfter: false };
const lateOrNot = fc.constantFrom<How>(fine, fine, { ...fine, fate: 'late' });
const chainId = fc.integer({ min: 10, max: 99 }).map((number) => `order-number-${number}`);

/** An order that is replaced several times, so that a later replacement may overtake an earlier one. */
const chain = fc
  .tuple(
    account,
    chainId,
    limitOrder,
    fc.array(fc.tuple(replaced, lateOrNot), { minLength: 2, maxLength: 4 }),
  )
  .map(([ofAccount, ofId, terms, changes]) =>
    step(`chain ${JSON.stringify([ofAccount, ofId, terms, changes])}`, async (world) => {
      await world.place(ofAccount, ofId, terms, fine);
      for (const [change, how] of changes) await world.replace(ofAccount, ofId, change, how);
      world.arrive();
    }),
  );

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: chain },
  {
    weight: 4,
    arbitrary: fc
      .tuple(account, id, placed, how)
      .map((given) => step(`place ${JSON.stringify(given)}`, (world) => world.place(...given))),
  },
  {
    weight: 12,
    arbitrary: fc
      .tuple(account, id, replaced, how)
      .map((given) => step(`replace ${JSON.stringify(given)}`, (world) => world.replace(...given))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(account, id, how)
      .map((given) => step(`cancel ${JSON.stringify(given)}`, (world) => world.cancel(...given))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(account, id, quantity)
      .map((given) => step(`fill ${JSON.stringify(given)}`, async (world) => world.fill(...given))),
  },
  { weight: 3, arbitrary: fc.constant(step('arrive', async (world) => world.arrive())) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(40_000, 200_000, 900_000)
      .map((ms) => step(`pass ${ms}`, async (world) => world.pass(ms))),
  },
  { weight: 2, arbitrary: fc.constant(step('settle', (world) => world.settle())) },
);

/** Steps one after the other, some of them at the same time. */
const histories = fc.array(fc.array(steps, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 25 });

async function live(
  history: readonly (readonly Step[])[],
  subject: ExposureSubject,
): Promise<string | undefined> {
  const world = new ExposureWorld(subject, limits);
  for (const together of history) {
    await Promise.all(together.map(({ take }) => take(world)));
    const fault = await world.fault();
    if (fault) return fault;
  }
  await world.end();
  return world.fault({ isOver: true });
}

/**
 * What the shortest history shows that ends wrongly; undefined when none of so many does.
 * @param options.isFirstEnough the first such history will do, and no shorter one is looked for
 */
export async function exposureFault(
  subject: ExposureSubject,
  runs: number,
  { seed = 23, isFirstEnough = false } = {},
): Promise<string | undefined> {
  const found = await fc.check(
    fc.asyncProperty(histories, async (history) => {
      const fault = await live(history, subject);
      if (fault) throw new Error(fault);
    }),
    { numRuns: runs, seed, endOnFailure: isFirstEnough },
  );
  if (!found.failed) return undefined;
  const [history = []] = found.counterexample ?? [];
  const lines = history.map((together) => together.map(({ says }) => says).join(' | '));
  const cause = found.errorInstance instanceof Error ? found.errorInstance.message : '';
  return [cause, ...lines].join('\n');
}
