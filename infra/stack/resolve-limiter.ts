/** What may be configured of the limiter, and checks that concern several properties. */

import * as v from 'valibot';
import * as ranges from '../../functions/settings/ranges.ts';
import type { Group, Operation } from '../../lib/catalogue/index.ts';
import { limitRequests, limitSeconds } from '../../lib/catalogue/limits.ts';
import {
  type EndpointsOptions,
  isFor,
  limiterLimits,
  limitName,
  nothingLeftOf,
  type OperationLimit,
  operationLimitsFault,
} from '../../lib/gateway/operation-limits.ts';
import { defined } from '../defined.ts';
import type { Mistakes } from '../mistakes.ts';
import type { NarrowLimit, ResolvedConfig } from './config.ts';
import { isLonger, matching, number, topicArn, whole } from './schema-parts.ts';

const bucketFault = 'takes 1 to 64 letters, digits, - . : and _';
const tableFault = 'takes the name or the ARN of a DynamoDB table';
const limitNameFault = 'takes a name of 1 to 32 lower-case letters, digits and -, beginning with a letter';

export const limiterSchema = v.strictObject({
  share: v.optional(number(ranges.share)),
  instances: v.optional(whole(...ranges.instances)),
  reserve: v.optional(number(ranges.reserve)),
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
  bucket: v.optional(matching(ranges.bucketName, bucketFault)),
  alarmTopic: v.optional(topicArn),
});

/** @param mistakes takes a sentence for each, which names the property */
export function resolveLimiter(
  { operationLimits: narrow, ...given }: v.InferOutput<typeof limiterSchema>,
  endpoints: EndpointsOptions,
  mistakes: Mistakes,
): ResolvedConfig['limiter'] {
  const { operations, upstreamLimits } = endpoints;
  const before = mistakes.count;
  const limits = Object.fromEntries(
    Object.entries(narrow).map(([name, limit]) => [name, nested(name, limit, operations, mistakes)]),
  );
  const resolved = { ...defined(given), operationLimits: limits };
  if (given.instances !== undefined && !given.reserve)
    mistakes.add('limiter.instances divides limiter.reserve, which is 0: leave it out.');
  // What follows takes each limit for one that can be kept.
  if (mistakes.count > before) return resolved;
  const fault = operationLimitsFault(limits, operations, upstreamLimits);
  if (fault) {
    mistakes.add(`limiter.operationLimits cannot be used: ${fault}.`);
    return resolved;
  }
  if (isLonger(limits, 1000))
    mistakes.add(
      `limiter.operationLimits takes limits that, as JSON, fit 1,000 characters: a function’s environment holds 4 kB in all.`,
    );
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
