/** The functions: what may be configured of them, and how many of each Lambda keeps free. */

import * as v from 'valibot';
import { apiRows, type FunctionName, functionOf, functionsOf, groupOf } from '../../functions/rows.ts';
import { type Group, type Operation, openable } from '../../lib/catalogue/index.ts';
import type { Mistakes } from '../mistakes.ts';
import { type ResolvedLive, reservedStreams } from './live-config.ts';
import { oneOf, reservation, whole } from './schema-parts.ts';

export interface FunctionsConfig {
  /** Below API Gateway's 29 seconds, with room for two attempts at the upstream, and 4 more with events. Default 25. */
  readonly timeoutSeconds?: number;
  /**
   * Default 512: the work is waiting for the upstream, and a start is not slower for it, because Lambda
   * gives a starting function a whole CPU.
   */
  readonly memoryMiB?: number;
  /**
   * How many instances Lambda keeps free for a function, which are also its maximum. It is called as its group; orders
   * have `order-cancels` and `order-reads` besides. Default 10 for groups with side effects, so that a flood of reads
   * cannot starve trading, 5 for `order-cancels`, or `none` with `orders: 'none'`, and `none` for others. 100 must be
   * left to the account's other functions: a new account, with a limit of 10 in all, takes `none` in place of the
   * object, which is `none` for every function.
   */
  readonly reservedConcurrency?: 'none' | Partial<Record<FunctionName, number | 'none'>>;
  /**
   * How a new version of the functions behind the API takes over: `canary` gives it a tenth of the requests for a quarter
   * of an hour and then all of them, `linear` a tenth more each three minutes. An alarm of failing answers brings the old
   * version back. Streams, workers and the authorizer change at once. Default `all-at-once`.
   */
  readonly rollout?: 'all-at-once' | 'canary' | 'linear';
}

/** REST APIs end an integration here; more takes a quota increase. */
export const integrationTimeoutSeconds = 29;

/**
 * For a function with side effects. A flood of reads can take every other instance that the account has; these are
 * left for orders. Ten at a third of a second each are thirty orders a second.
 */
const reservedBySideEffect = 10;

/** Five at a third of a second each are fifteen cancels a second; the vendor's table allows ten (600 in 60 s). */
const reservedForCancels = 5;

const byName = v.strictObject(
  Object.fromEntries(
    openable
      .flatMap(functionsOf)
      // `live` has those of streams.
      .filter((name) => !apiRows[name]?.streams)
      .map((name) => [name, v.optional(reservation)]),
  ),
);

/** Chosen by what is given: of a union's two faults none would name the property. */
const reservations = v.lazy((given) =>
  typeof given === 'object' && given !== null
    ? byName
    : v.literal('none', 'takes none, or an object with a number or none for each function'),
);

export const functionsSchema = v.strictObject({
  timeoutSeconds: v.optional(whole(3, integrationTimeoutSeconds - 1), 25),
  memoryMiB: v.optional(whole(128, 10_240), 512),
  reservedConcurrency: v.optional(reservations, {}),
  rollout: v.optional(oneOf('all-at-once', 'canary', 'linear'), 'all-at-once'),
});

export type ResolvedFunctions = Omit<v.InferOutput<typeof functionsSchema>, 'reservedConcurrency'> & {
  readonly reservedConcurrency: Readonly<Partial<Record<FunctionName, number>>>;
};

/**
 * @param open the groups that are
 * @param mistakes takes a sentence for each, which names the property
 */
export function resolveFunctions(
  { reservedConcurrency: given, ...rest }: v.InferOutput<typeof functionsSchema>,
  open: readonly Group[],
  operations: readonly Operation[],
  mistakes: Mistakes,
): ResolvedFunctions {
  if (given === 'none') return { ...rest, reservedConcurrency: {} };
  for (const name of (Object.keys(given) as FunctionName[]).filter((one) => !open.includes(groupOf(one))))
    mistakes.add(
      `functions.reservedConcurrency.${name} is for a group that is not open, and so has no function.`,
    );
  const counts = open.flatMap(functionsOf).flatMap((name) => {
    const count = given[name] ?? usualCount(name, given[groupOf(name)], operations);
    return count === 'none' ? [] : [[name, count] as const];
  });
  return { ...rest, reservedConcurrency: Object.fromEntries(counts) };
}

/** With an instance for each stream. */
export const withStreamsReserved = (
  functions: ResolvedFunctions,
  live: ResolvedLive | undefined,
): ResolvedFunctions =>
  live
    ? {
        ...functions,
        reservedConcurrency: { ...functions.reservedConcurrency, ...reservedStreams(live) },
      }
    : functions;

/** @param ofGroup what is given for the group's own function: where it reserves none, the account may have none to give */
function usualCount(
  name: FunctionName,
  ofGroup: number | 'none' | undefined,
  operations: readonly Operation[],
): number | 'none' {
  const changes = operations.flatMap((one) =>
    functionOf(one) === name && one.sideEffect ? one.sideEffect : [],
  );
  if (changes.length === 0 || ofGroup === 'none') return 'none';
  return changes.every(({ cancels }) => cancels) ? reservedForCancels : reservedBySideEffect;
}

/**
 * Instances of the function that cancels what is open on request. One is kept free for it where placing has some, so that
 * a flood of reads does not keep what is open from being cancelled. It is also the most that it has: a run by the stream
 * and one by the schedule need not list the same orders at the same time.
 */
export const massCancelConcurrency = ({
  functions,
}: {
  readonly functions: ResolvedFunctions;
}): number | undefined => (functions.reservedConcurrency.orders === undefined ? undefined : 1);
