/** Random histories of stops, checks, orders and runs, for the code as it is and for mutants of it. */

import fc from 'fast-check';
import {
  type Fate,
  type MassCancelSubject,
  MassCancelWorld,
  maxSkewMs,
  type Placing,
  scopes,
  type Trouble,
} from './world.ts';

/** In words, and what it does. */
type Step = readonly [words: string, take: (world: MassCancelWorld) => Promise<unknown>];

const upTo = (max: number) => fc.nat({ max });
const skew = fc.integer({ min: -maxSkewMs, max: maxSkewMs });
const scope = fc.constantFrom(...scopes);

const placing: fc.Arbitrary<Placing> = fc.record({
  account: upTo(2),
  user: fc.option(upTo(1), { nil: undefined }),
  how: fc.constantFrom<Placing['how']>('answered', 'answered', 'lost', 'refused', 'foreign'),
  leavesAfterMs: fc.oneof(fc.constant(0), upTo(25_000)),
  arrivesAfterMs: fc.oneof(fc.constant(0), upTo(29_000)),
  lagMs: fc.oneof(fc.constant(0), upTo(29_000)),
  isCombination: fc.boolean(),
});

const fate = fc.constantFrom<Fate>(
  'accepted',
  'refused',
  'unknown',
  'executed, and the answer lost',
  'taken, and not executed',
  'throws',
);

const trouble: fc.Arbitrary<Trouble> = fc.record({
  failsAt: fc.oneof(fc.constant(0), upTo(25)),
  dies: fc.boolean(),
  after: fc.boolean(),
  unreadable: fc.option(upTo(2), { nil: undefined }),
  fates: fc.array(fate, { maxLength: 8 }),
});

const inWords = (words: string, take: Step[1]): Step => [words, take];

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(placing, fc.integer({ min: -1000, max: 1000 }))
      .map(([given, skewMs]) =>
        inWords(`place ${JSON.stringify(given)} ${skewMs}`, (world) => world.place(given, skewMs)),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(scope, skew)
      .map(([one, skewMs]) => inWords(`stop ${one} ${skewMs}`, (world) => world.stop(one, skewMs))),
  },
  { weight: 1, arbitrary: scope.map((one) => inWords(`block ${one}`, (world) => world.block(one))) },
  { weight: 1, arbitrary: scope.map((one) => inWords(`resume ${one}`, async (world) => world.resume(one))) },
  {
    weight: 4,
    arbitrary: trouble.map((one) => inWords(`run ${JSON.stringify(one)}`, (world) => world.run(one))),
  },
  { weight: 3, arbitrary: upTo(120_000).map((ms) => inWords(`pass ${ms}`, async (world) => world.pass(ms))) },
  {
    weight: 1,
    arbitrary: upTo(10).map((index) => inWords(`fill ${index}`, async (world) => world.fill(index))),
  },
);

/** The first fault and its history; undefined when none of so many has one. */
export async function massCancelFault(
  subject: MassCancelSubject,
  runs: number,
  seed = 23,
): Promise<string | undefined> {
  const steps = fc.array(step, { minLength: 2, maxLength: 25 });
  const troubles = fc.array(trouble, { maxLength: 18 });
  const property = fc.asyncProperty(steps, troubles, async (steps, troubles) => {
    const world = new MassCancelWorld(subject);
    for (const [, take] of steps) await take(world);
    await world.end(troubles);
    if (world.faults.length > 0)
      throw new Error(`${world.faults[0]}\n${steps.map(([words]) => words).join('\n')}`);
  });
  const result = await fc.check(property, { numRuns: runs, seed });
  return result.failed ? String(result.errorInstance) : undefined;
}
