/** Checks of the limiter's configuration that concern several properties. */

import type { Group, Operation } from '../../lib/catalogue/index.ts';
import {
  type EndpointsOptions,
  isFor,
  limiterLimits,
  nothingLeftOf,
  type OperationLimit,
  operationLimitsFault,
} from '../../lib/gateway/operation-limits.ts';
import { ConfigError, type NarrowLimit, type ResolvedConfig } from './config.ts';

interface GivenLimiter {
  readonly share?: number | undefined;
  readonly instances?: number | undefined;
  readonly reserve?: number | undefined;
  readonly table?: string | undefined;
  readonly bucket?: string | undefined;
  readonly operationLimits: Readonly<Record<string, NarrowLimit>>;
}

/** Lambda holds a function's whole environment to 4 kB. */
const maxLimitsLength = 1000;

/** @throws ConfigError in one sentence that names the property */
export function resolveLimiter(
  { operationLimits: narrow, ...given }: GivenLimiter,
  endpoints: EndpointsOptions,
): ResolvedConfig['limiter'] {
  const { operations, upstreamLimits } = endpoints;
  const limits = Object.fromEntries(
    Object.entries(narrow).map(([name, limit]) => [name, nested(name, limit, operations)]),
  );
  const fault = operationLimitsFault(limits, operations, upstreamLimits);
  if (fault) throw new ConfigError(`limiter.operationLimits cannot be used: ${fault}.`);
  if (JSON.stringify(limits).length > maxLimitsLength)
    throw new ConfigError(
      `limiter.operationLimits takes limits that, as JSON, fit 1,000 characters: a function’s environment holds 4 kB in all.`,
    );
  const empty = nothingLeftOf(limiterLimits(limits, given.share, endpoints), given.reserve);
  if (empty !== undefined)
    throw new ConfigError(`limiter.share and limiter.reserve leave nothing of the limit ${empty} to give.`);
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(set) as Omit<ResolvedConfig['limiter'], 'operationLimits'>),
    operationLimits: limits,
  };
}

/** With the wide limit that its operations count against, which their functions alone could not know. */
function nested(name: string, limit: NarrowLimit, operations: readonly Operation[]): OperationLimit {
  const known = new Set<string>(operations.flatMap(({ id, group }) => [id, group]));
  const unknown = limit.for.find((one: Group | string) => !known.has(one));
  if (unknown !== undefined)
    throw new ConfigError(
      `limiter.operationLimits.${name}.for has ${JSON.stringify(unknown)}, which is neither an operation nor a group.`,
    );
  const wide = new Set(operations.filter((one) => isFor(limit, one)).map((one) => one.limit));
  if (wide.size > 1)
    throw new ConfigError(
      `limiter.operationLimits.${name}.for has operations that count against the upstream’s own limit and others that do not: give each kind a limit.`,
    );
  const [within] = wide;
  return { ...limit, ...(within && { within }) };
}
