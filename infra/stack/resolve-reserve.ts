/**
 * What the upstream allows, and the part of the limits that is reserved for functions that cannot reach the table, and M, by which it is
 * divided. The limit holds without the table only if never more than M functions serve at one time, so M is
 * what Lambda enforces: the sum of what is reserved for each function that draws on a limit.
 */

import * as v from 'valibot';
import { limitPresets, type UpstreamLimits, upstreamLimitsFault } from '../../lib/catalogue/limits.ts';
import { type EndpointsOptions, limiterLimits } from '../../lib/gateway/operation-limits.ts';
import { ConfigError, type ResolvedConfig } from './config.ts';

/** A function that draws on a limit. */
export interface Drawing {
  /** The property that reserves its concurrency. */
  readonly property: string;
  readonly reserved: number | undefined;
}

type Limiter = ResolvedConfig['limiter'];

/**
 * With M as `instances` where there is a reserve.
 *
 * @throws ConfigError in one sentence that names the property
 */
export function resolveReserve(
  limiter: Limiter,
  drawing: readonly Drawing[],
  endpoints: EndpointsOptions,
): Limiter {
  const { reserve, instances: given, table } = limiter;
  if (!reserve) return limiter;
  const unbounded = drawing.find(({ reserved }) => reserved === undefined);
  if (unbounded)
    throw new ConfigError(
      `${unbounded.property} must be a number while limiter.reserve is above 0: the reserve is divided by the maximum of functions that run at one time, and only reserved concurrency bounds them.`,
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
  if (instances === 0)
    throw new ConfigError(
      'limiter.reserve is divided by functions that count against a limit, and none is open: leave it out.',
    );
  if (drawing.length > 0) mustBeDivisible(limiter, reserve, instances, endpoints);
  return { ...limiter, instances };
}

function mustBeDivisible(
  { operationLimits, share }: Limiter,
  reserve: number,
  instances: number,
  endpoints: EndpointsOptions,
): void {
  const limits = Object.entries(limiterLimits(operationLimits, share, endpoints)).map(
    ([name, one]) => [name, Math.floor(one.requests * (one.share ?? 1))] as const,
  );
  if (limits.some(([, requests]) => Math.floor(requests * reserve) >= instances)) return;
  const [name, requests] = limits.reduce((largest, one) => (one[1] > largest[1] ? one : largest));
  const minReserve = Math.ceil((1000 * instances) / requests) / 1000;
  const advice =
    instances < requests - 2
      ? `set at least ${minReserve}, or reserve fewer`
      : 'reserve fewer, or set limiter.reserve to 0';
  throw new ConfigError(
    `limiter.reserve ${reserve} is ${Math.floor(requests * reserve)} of the ${requests} requests of ${name}, less than one for each of ${instances} functions: ${advice}.`,
  );
}

/** What the upstream allows: the deployer’s choice, because its own sources disagree. */
export const upstreamLimitsSchema = v.optional(
  v.custom<UpstreamLimits>(
    (given) => upstreamLimitsFault(given) === undefined,
    (issue) => `cannot be used: ${upstreamLimitsFault(issue.input)}`,
  ),
);

/** @throws ConfigError in one sentence, when nothing was chosen */
export function chosenLimits(given: UpstreamLimits | undefined): UpstreamLimits {
  if (given !== undefined) return given;
  throw new ConfigError(
    `upstream.limits must be chosen, because the upstream’s sources disagree: ${Object.keys(limitPresets).join(', ')}, or an object of limits, see "What the upstream allows" in docs/limits.md.`,
  );
}
