/** The functions: what may be configured of them, and how many of each Lambda keeps free. */

import * as v from 'valibot';
import { type Group, type Operation, openable } from '../../lib/catalogue/index.ts';
import { ConfigError, type ResolvedConfig } from './config.ts';
import { whole } from './schema-parts.ts';

/** REST APIs end an integration here; more takes a quota increase. */
export const integrationTimeoutSeconds = 29;

/**
 * For a group with side effects. A flood of reads can take every other instance that the account has; these are
 * left for orders. Ten at a third of a second each are thirty orders a second.
 */
const reservedBySideEffect = 10;

/** A reserved 0 is Lambda's way to stop a function; here a group is closed instead. */
const reserved = v.lazy((given) =>
  typeof given === 'number'
    ? whole(1, 1000)
    : v.literal('none', 'takes a whole number from 1 to 1000, or none'),
);

const byGroup = v.strictObject(Object.fromEntries(openable.map((group) => [group, v.optional(reserved)])));

/** Chosen by what is given: of a union's two faults none would name the property. */
const reservations = v.lazy((given) =>
  typeof given === 'object' && given !== null
    ? byGroup
    : v.literal('none', 'takes none, or an object with a number or none for each group'),
);

export const functionsSchema = v.strictObject({
  timeoutSeconds: v.optional(whole(1, integrationTimeoutSeconds - 1), 25),
  memoryMiB: v.optional(whole(128, 10_240), 512),
  reservedConcurrency: v.optional(reservations, {}),
});

/**
 * @param open the groups that are
 * @throws ConfigError in one sentence that names the property
 */
export function resolveFunctions(
  { reservedConcurrency: given, ...rest }: v.InferOutput<typeof functionsSchema>,
  open: readonly Group[],
  operations: readonly Operation[],
): ResolvedConfig['functions'] {
  if (given === 'none') return { ...rest, reservedConcurrency: {} };
  const closed = (Object.keys(given) as Group[]).find((group) => !open.includes(group));
  if (closed)
    throw new ConfigError(
      `functions.reservedConcurrency.${closed} is for a group that is not open, and so has no function.`,
    );
  const counts = open.flatMap((group) => {
    const hasSideEffect = operations.some((one) => one.group === group && one.sideEffect);
    const count = given[group] ?? (hasSideEffect ? reservedBySideEffect : 'none');
    return count === 'none' ? [] : [[group, count] as const];
  });
  return { ...rest, reservedConcurrency: Object.fromEntries(counts) };
}
