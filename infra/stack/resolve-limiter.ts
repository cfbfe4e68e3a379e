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
import type { Mistakes } from '../mistakes.ts';
import type { NarrowLimit, ResolvedConfig } from './config.ts';

interface GivenLimiter {
  readonly share?: number | undefined;
  readonly instances?: number | undefined;
  readonly reserve?: number | undefined;
  readonly table?: string | undefined;
  readonly bucket?: string | undefined;
  readonly alarmTopic?: string | undefined;
  readonly operationLimits: Readonly<Record<string, NarrowLimit>>;
}

/** Lambda holds a function's whole environment to 4 kB. */
const maxLimitsLength = 1000;

/** @param mistakes takes a sentence for each, which names the property */
export function resolveLimiter(
  { operationLimits: narrow, ...given }: GivenLimiter,
  endpoints: EndpointsOptions,
  mistakes: Mistakes,
): ResolvedConfig['limiter'] {
  const { operations, upstreamLimits } = endpoints;
  const before = mistakes.count;
  const limits = Object.fromEntries(
    Object.entries(narrow).map(([name, limit]) => [name, nested(name, limit, operations, mistakes)]),
  );
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const resolved = {
    ...(Object.fromEntries(set) as Omit<ResolvedConfig['limiter'], 'operationLimits'>),
    operationLimits: limits,
  };
  if (given.instances !== undefined && !given.reserve)
    mistakes.add('limiter.instances divides limiter.reserve, which is 0: leave it out.');
  // What follows takes each limit for one that can be kept.
  if (mistakes.count > before) return resolved;
  const fault = operationLimitsFault(limits, operations, upstreamLimits);
  if (fault) {
    mistakes.add(`limiter.operationLimits cannot be used: ${fault}.`);
    return resolved;
  }
  if (JSON.stringify(limits).length > maxLimitsLength)
    mistakes.add(
      `limiter.operationLimits takes limits that, as JSON, fit 1,000 characters: a function’s environment holds 4 kB in all.`,
    );
  const empty = nothingLeftOf(limiterLimits(limits, given.share, endpoints), given.reserve);
  if (empty !== undefined)
    mistakes.add(
      `limiter.share and limiter.reserve leave nothing of the limit ${empty} to give: let the stacks on the app key share one limiter.table, or close the groups that count against it.`,
    );
  return resolved;
}

/** With the wide limit that its operations count against, which their functions alone could not know. */
function nested(
  name: string,
  limit: NarrowLimit,
  operations: readonly Operation[],
  mistakes: Mistakes,
): OperationLimit {
  const known = new Set<string>(operations.flatMap(({ id, group }) => [id, group]));
  for (const unknown of limit.for.filter((one: Group | string) => !known.has(one)))
    mistakes.add(
      `limiter.operationLimits.${name}.for has ${JSON.stringify(unknown)}, which is neither an operation nor a group.`,
    );
  const wide = new Set(operations.filter((one) => isFor(limit, one)).map((one) => one.limit));
  if (wide.size > 1)
    mistakes.add(
      `limiter.operationLimits.${name}.for has operations that count against the upstream’s own limit and others that do not: give each kind a limit.`,
    );
  const [within] = wide;
  return { ...limit, ...(within && { within }) };
}
