/**
 * The limiter: what a deployer may configure, and what functions take of it. Of each limit a part may be reserved for
 * functions that cannot reach the table. It is divided by M. The limit holds without the table only if never more than M
 * functions serve at one time, so M is what Lambda enforces: the sum of what is reserved for each function that draws on a
 * limit.
 */

import * as v from 'valibot';
import type { LimiterTableSettings } from '../../functions/settings/parts.ts';
import type { Group, Operation, RequestLimit } from '../../lib/catalogue/index.ts';
import { limitRequests, limitSeconds } from '../../lib/catalogue/limits.ts';
import {
  type EndpointsOptions,
  isFor,
  limiterLimits,
  limitName,
  nothingLeftOf,
  type OperationLimit,
  type OperationLimits,
  operationLimitsFault,
} from '../../lib/gateway/limits/operation-limits.ts';
import type { Mistakes } from '../mistakes.ts';
import { ConfigError, instanceCount, matching, number, topicArn, whole } from './schema-parts.ts';

export interface LimiterConfig {
  /** The part of each limit that is this stack's, where others use the same app key. Default 1. */
  readonly share?: number;
  /**
   * Narrower limits by name, such as the upstream's own for one of its operations, each for a list of
   * operation ids and groups.
   */
  readonly operationLimits?: Readonly<Record<string, NarrowLimit>>;
  /**
   * The part of each limit that is kept for functions that cannot reach the table. It is divided by the
   * maximum of functions that run at one time, so each that draws on a limit needs a reserved concurrency: a number in
   * `functions.reservedConcurrency`, and `events.reservedConcurrency`. Default 0: without the table nothing is
   * sent.
   */
  readonly reserve?: number;
  /**
   * The reserved concurrency of all stacks together whose functions draw on this table, where there are
   * several: required beside `reserve` and `table`, and to be given in the stack that has the table too.
   * Default the sum of this stack's.
   */
  readonly instances?: number;
  /** The name or ARN of another stack's table, in the same Region, whose limits this one shares. */
  readonly table?: string;
  /** Who shares the limits within a table; the app key is part of the key anyhow. Default `countersign`. */
  readonly bucket?: string;
  /** The ARN of the SNS topic that hears when the upstream allows less than `upstream.limits`. Default none. */
  readonly alarmTopic?: string;
}

interface NarrowLimit extends Pick<RequestLimit, 'requests' | 'perSeconds'> {
  readonly for: readonly (Group | string)[];
}

/** One default for all, so that stacks that share a table share the limits. */
export const defaultBucket = 'countersign';

const bucketFault = 'takes 1 to 64 letters, digits, - . : and _';
const tableFault = 'takes the name or the ARN of a DynamoDB table';
const limitNameFault = 'takes a name of 1 to 32 lower-case letters, digits and -, beginning with a letter';

export const limiterSchema = v.strictObject({
  share: v.optional(
    number({ words: 'a number above 0, at most 1', has: (part) => part > 0 && part <= 1 }),
    1,
  ),
  instances: v.optional(instanceCount),
  reserve: v.optional(
    number({ words: 'a number from 0 to below 1', has: (part) => part >= 0 && part < 1 }),
    0,
  ),
  operationLimits: v.optional(
    v.record(
      matching(limitName, limitNameFault),
      v.strictObject({
        requests: whole(...limitRequests),
        perSeconds: whole(...limitSeconds),
        for: v.pipe(
          v.array(v.string('takes ids of operations and groups'), 'takes ids of operations and groups'),
          v.minLength(1, 'takes at least one operation or group'),
        ),
      }),
    ),
    {},
  ),
  table: v.optional(
    matching(/^(arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/)?[\w.-]{3,255}$/, tableFault),
  ),
  bucket: v.optional(matching(/^[\w.:-]{1,64}$/, bucketFault), defaultBucket),
  alarmTopic: v.optional(topicArn),
});

type Limiter = Omit<v.InferOutput<typeof limiterSchema>, 'operationLimits'> & {
  readonly operationLimits: OperationLimits;
};

export type ResolvedLimiter = Omit<LimiterTableSettings, 'tableName'> & Pick<Limiter, 'table' | 'alarmTopic'>;

/** @param mistakes takes a sentence for each, which names the property */
export function resolveLimiter(
  { operationLimits: narrow, ...given }: v.InferOutput<typeof limiterSchema>,
  endpoints: EndpointsOptions,
  mistakes: Mistakes,
): Limiter {
  const { operations, upstreamLimits } = endpoints;
  const before = mistakes.count;
  const limits = Object.fromEntries(
    Object.entries(narrow).map(([name, limit]) => [name, nested(name, limit, operations, mistakes)]),
  );
  const resolved = { ...given, operationLimits: limits };
  if (given.instances !== undefined && !given.reserve)
    mistakes.add('limiter.instances divides limiter.reserve, which is 0: leave it out.');
  // The checks below assume that each limit can be kept.
  if (mistakes.count > before) return resolved;
  const fault = operationLimitsFault(limits, operations, upstreamLimits);
  if (fault) {
    mistakes.add(`limiter.operationLimits cannot be used: ${fault}.`);
    return resolved;
  }
  const empty = nothingLeftOf(limiterLimits(limits, given.share, endpoints), given.reserve);
  if (empty !== undefined)
    mistakes.add(
      `limiter.share and limiter.reserve leave nothing of the limit ${empty} to give: raise the share, lower the reserve, or let the stacks on the app key share one limiter.table.`,
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

/** A function that draws on a limit. */
export interface Drawing {
  /** The property that reserves its concurrency. */
  readonly property: string;
  readonly reserved: number | undefined;
}

/** @throws ConfigError in one sentence that names the property */
export function resolveReserve(
  limiter: Limiter,
  drawing: readonly Drawing[],
  endpoints: EndpointsOptions,
): ResolvedLimiter {
  const { reserve: part, instances: given, ...rest } = limiter;
  if (!part) return { ...rest, reserve: undefined };
  const { table } = rest;
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
  if (drawing.length > 0) mustBeDivisible(limiter, instances, endpoints);
  return { ...rest, reserve: { part, instances } };
}

function mustBeDivisible(
  { operationLimits, share, reserve }: Limiter,
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
