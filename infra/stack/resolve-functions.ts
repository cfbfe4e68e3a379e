/** The functions: what may be configured of them, and how many of each Lambda keeps free. */

import * as v from 'valibot';
import { type FunctionName, functionOf, functionsOf, groupOf } from '../../lib/catalogue/functions.ts';
import { type Group, type Operation, openable } from '../../lib/catalogue/index.ts';
import type { Mistakes } from '../mistakes.ts';
import type { ResolvedConfig } from './config.ts';
import { type ResolvedLive, reservedStreams } from './live-config.ts';
import { rolloutSchema } from './rollout-config.ts';
import { reservation, whole } from './schema-parts.ts';

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
      .filter((name) => name !== 'quote-streams' && name !== 'order-streams')
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
  rollout: v.optional(rolloutSchema, 'all-at-once'),
});

/**
 * @param open the groups that are
 * @param mistakes takes a sentence for each, which names the property
 */
export function resolveFunctions(
  { reservedConcurrency: given, ...rest }: v.InferOutput<typeof functionsSchema>,
  open: readonly Group[],
  operations: readonly Operation[],
  mistakes: Mistakes,
): ResolvedConfig['functions'] {
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
  functions: ResolvedConfig['functions'],
  live: ResolvedLive | undefined,
): ResolvedConfig['functions'] =>
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
}: Pick<ResolvedConfig, 'functions'>): number | undefined =>
  functions.reservedConcurrency.orders === undefined ? undefined : 1;
