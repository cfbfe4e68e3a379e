/**
 * The part of the limits that is set aside for functions that cannot reach the table, and M, by which it is
 * divided. The limit holds without the table only if never more than M functions serve at one time, so M is
 * what Lambda enforces: the sum of what is reserved for each function that draws on a limit.
 */

import { limiterLimits } from '../../lib/gateway/operation-limits.ts';
import { ConfigError, type ResolvedConfig } from './config.ts';

/** A function that draws on a limit. */
export interface Drawing {
  /** The property that reserves its concurrency. */
  readonly property: string;
  readonly reserved: number | undefined;
}

type Budget = ResolvedConfig['limiter'];

/**
 * With M as `instances` where something is set aside.
 *
 * @throws ConfigError in one sentence that names the property
 */
export function resolveReserve(budget: Budget, drawing: readonly Drawing[]): Budget {
  const { reserve, instances: given, table } = budget;
  if (!reserve) {
    if (given === undefined) return budget;
    throw new ConfigError(
      'limiter.instances divides limiter.reserve, and nothing is set aside: leave it out.',
    );
  }
  const unbounded = drawing.find(({ reserved }) => reserved === undefined);
  if (unbounded)
    throw new ConfigError(
      `${unbounded.property} must be a number while limiter.reserve is above 0: what is set aside is divided by the most functions that run at one time, and only reserved concurrency bounds them.`,
    );
  const own = drawing.reduce((sum, { reserved = 0 }) => sum + reserved, 0);
  if (given === undefined && table !== undefined)
    throw new ConfigError(
      `limiter.instances is required beside limiter.reserve and limiter.table: the reserved concurrency of all stacks on that table together, this one’s ${own} included.`,
    );
  if (given !== undefined && given < own)
    throw new ConfigError(
      `limiter.instances ${given} is less than the ${own} that this stack alone reserves.`,
    );
  const instances = given ?? own;
  if (drawing.length > 0) mustBeDivisible(budget, reserve, instances);
  return { ...budget, instances };
}

function mustBeDivisible({ operationLimits, share }: Budget, reserve: number, instances: number): void {
  const ours = Object.entries(limiterLimits(operationLimits, share)).map(
    ([name, one]) => [name, Math.floor(one.requests * (one.share ?? 1))] as const,
  );
  if (ours.some(([, requests]) => Math.floor(requests * reserve) >= instances)) return;
  const [name, requests] = ours.reduce((most, one) => (one[1] > most[1] ? one : most));
  const least = Math.ceil((1000 * instances) / requests) / 1000;
  const advice =
    instances < requests - 2
      ? `set at least ${least}, or reserve fewer`
      : 'reserve fewer, or set nothing aside';
  throw new ConfigError(
    `limiter.reserve ${reserve} is ${Math.floor(requests * reserve)} of the ${requests} requests of ${name}, less than one for each of ${instances} functions: ${advice}.`,
  );
}
