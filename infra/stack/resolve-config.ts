/** Fills in the defaults of a configuration; a wrong value is refused in one sentence that names the property. */

import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import { originFault } from '../../functions/aws/cors.ts';
import { readsOf } from '../../functions/aws/lookup-environment.ts';
import {
  operations as catalogue,
  type Group,
  groups,
  type Operation,
  openable,
  openByDefault,
} from '../../lib/catalogue/index.ts';
import { baseUrlFault, upstreamPathsFault } from '../../lib/gateway/index.ts';
import { limitsOf } from '../../lib/gateway/operation-limits.ts';
import { modesFor, usualMode } from '../access-modes.ts';
import { ConfigError, type CountersignConfig, type ResolvedConfig } from './config.ts';
import { batchSeconds, eventsSchema } from './lookups-config.ts';
import { marketDataUseSchema } from './market-data-use.ts';
import { cacheSchema, resolveCache } from './resolve-cache.ts';
import { domainSchema, resolveDomain } from './resolve-domain.ts';
import { functionsSchema, integrationTimeoutSeconds, resolveFunctions } from './resolve-functions.ts';
import { resolveLimiter } from './resolve-limiter.ts';
import { plansSchema, resolvePlan } from './resolve-plans.ts';
import { resolveReserve } from './resolve-reserve.ts';
import { oneOf, whole } from './schema-parts.ts';
import { accessTokenSchema } from './token-config.ts';
import { chosenLimits, upstreamLimitsSchema } from './upstream-limits.ts';

function accessOf(group: Group) {
  const modes = [...modesFor(group), 'closed'] as const;
  return groups[group].exposure === 'open'
    ? oneOf(...modes)
    : v.picklist(modes, `takes ${modes.join(' or ')}: its operations belong to one upstream account`);
}

const faultless = (faultOf: (text: string) => string | undefined, otherwise: string) =>
  v.pipe(
    v.string(otherwise),
    v.check(
      (text) => faultOf(text) === undefined,
      (issue) => `${JSON.stringify(issue.input)} cannot be used: ${faultOf(String(issue.input))}`,
    ),
  );

/** Beyond what is an origin: which ones no browser ever sends. */
function configuredOriginFault(text: string): string | undefined {
  if (text === '*') return undefined;
  if (/^(https:.*:443|http:.*:80)$/.test(text))
    return 'browsers leave the port out of an origin where it is the scheme’s own';
  return originFault(text);
}

const retentionDays = Object.values(RetentionDays).filter(
  (days): days is number => typeof days === 'number' && days !== RetentionDays.INFINITE,
);

/** Lambda holds a function's whole environment to 4 kB; the origins are its only part without a bound. */
const maxOriginsLength = 2000;

const between = (message: string, isGood: (value: number) => boolean) =>
  v.pipe(v.number(message), v.check(isGood, message));

const bucketFault = 'takes 1 to 64 letters, digits, - . : and _';
const tableFault = 'takes the name or the ARN of a DynamoDB table';
const limitNameFault = 'takes a name of 1 to 32 lower-case letters, digits and -, beginning with a letter';

const limiterSchema = v.strictObject({
  share: v.optional(between('takes a number above 0, at most 1', (part) => part > 0 && part <= 1)),
  instances: v.optional(whole(1, 10_000)),
  reserve: v.optional(between('takes a number from 0 to below 1', (part) => part >= 0 && part < 1)),
  operationLimits: v.optional(
    v.record(
      v.pipe(v.string(limitNameFault), v.regex(/^[a-z][a-z0-9-]{0,31}$/, limitNameFault)),
      v.strictObject({
        requests: whole(1, 1_000_000),
        perSeconds: whole(1, 3600),
        for: v.pipe(
          v.array(v.string('takes ids of operations and groups'), 'takes ids of operations and groups'),
          v.minLength(1, 'takes at least one operation or group'),
        ),
      }),
    ),
    {},
  ),
  table: v.optional(
    v.pipe(
      v.string(tableFault),
      v.regex(/^(arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/)?[\w.-]{3,255}$/, tableFault),
    ),
  ),
  bucket: v.optional(v.pipe(v.string(bucketFault), v.regex(/^[\w.:-]{1,64}$/, bucketFault))),
});

export const config = v.strictObject({
  upstream: v.strictObject({
    baseUrl: faultless(baseUrlFault, 'takes the absolute URL of the upstream'),
    limits: upstreamLimitsSchema,
    paths: v.optional(v.record(v.string(), v.string('takes a path')), {}),
    timeoutSeconds: v.optional(whole(1, integrationTimeoutSeconds - 1), 10),
    allowLoopback: v.optional(v.boolean('takes true or false'), false),
  }),
  groups: v.optional(
    v.strictObject(Object.fromEntries(openable.map((group) => [group, v.optional(accessOf(group))]))),
    {},
  ),
  plans: v.optional(plansSchema, {}),
  limiter: v.optional(limiterSchema, {}),
  events: v.optional(eventsSchema),
  accessToken: v.optional(accessTokenSchema),
  cors: v.optional(
    v.strictObject({
      origins: v.pipe(
        v.array(faultless(configuredOriginFault, 'takes an origin')),
        v.check((origins) => new Set(origins).size === origins.length, 'has the same origin twice'),
        v.check(
          (origins) => !origins.includes('*') || origins.length === 1,
          'takes * only alone: it lets every origin in already',
        ),
        v.check(
          (origins) => origins.join(',').length <= maxOriginsLength,
          'takes origins that, joined by commas, fit 2,000 characters: a function’s environment holds 4 kB in all',
        ),
      ),
    }),
    { origins: [] },
  ),
  marketDataUse: v.optional(marketDataUseSchema),
  cache: v.optional(cacheSchema, {}),
  functions: v.optional(functionsSchema, {}),
  logs: v.optional(
    v.strictObject({
      retentionDays: v.optional(v.picklist(retentionDays, `takes one of ${retentionDays.join(', ')}`), 30),
      access: v.optional(oneOf('off', 'use-account-role', 'set-account-role'), 'off'),
    }),
    {},
  ),
  stageName: v.optional(
    v.pipe(
      v.string('takes letters, digits and _'),
      v.regex(/^\w{1,128}$/, 'takes 1 to 128 letters, digits and _'),
    ),
    'v1',
  ),
  domain: v.optional(domainSchema),
  onRemoval: v.optional(oneOf('destroy', 'retain'), 'destroy'),
});

/** @throws ConfigError for the first wrong value */
export function resolveConfig(
  given: CountersignConfig,
  operations: readonly Operation[] = catalogue,
): ResolvedConfig {
  const parsed = v.safeParse(config, given, { abortEarly: true });
  if (!parsed.success) throw new ConfigError(sentenceOf(parsed.issues[0]));
  const {
    upstream: { allowLoopback, limits: givenLimits, ...upstream },
    functions: givenFunctions,
    cache: givenCache,
    cors,
    plans: givenPlans,
    limiter: givenLimiter,
    groups: givenGroups,
    events,
    domain,
    // It is a statement of the deployer's, and configures nothing.
    marketDataUse: _,
    ...rest
  } = parsed.output;

  // What is http here is loopback: the schema refuses the rest.
  if (!allowLoopback && new URL(upstream.baseUrl).protocol !== 'https:')
    throw new ConfigError(
      `upstream.baseUrl ${JSON.stringify(upstream.baseUrl)} cannot be used: use https; http on loopback is for emulators, with upstream.allowLoopback.`,
    );

  const upstreamLimits = chosenLimits(givenLimits);
  const pathsFault = upstreamPathsFault(upstream.paths, operations);
  if (pathsFault) throw new ConfigError(`upstream.paths cannot be used: ${pathsFault}.`);

  // A read is sent once more after a refused signature; the function must outlive both attempts.
  if (2 * upstream.timeoutSeconds >= givenFunctions.timeoutSeconds)
    throw new ConfigError(
      `functions.timeoutSeconds must be more than twice upstream.timeoutSeconds (${upstream.timeoutSeconds}), because a read may be sent twice, and less than ${integrationTimeoutSeconds}.`,
    );

  if (events && 2 * upstream.timeoutSeconds + batchSeconds > givenFunctions.timeoutSeconds)
    throw new ConfigError(
      `functions.timeoutSeconds must be at least twice upstream.timeoutSeconds (${upstream.timeoutSeconds}) and ${batchSeconds} more while events are open, because a batch is taken before and its replies are published after.`,
    );

  const accesses = openable.map(
    (group) =>
      [group, givenGroups[group] ?? (openByDefault.includes(group) ? usualMode(group) : 'closed')] as const,
  );
  const open = accesses.filter(([, access]) => access !== 'closed');
  const openGroups = open.map(([group]) => group);
  const functions = resolveFunctions(givenFunctions, openGroups, operations);
  const limiter = resolveLimiter(givenLimiter, { operations, upstreamLimits });
  const draws = (list: readonly Operation[]) =>
    list.some((one) => limitsOf(one, { ...limiter, upstreamLimits }));
  const drawing = openGroups
    .filter((group) => draws(operations.filter((operation) => operation.group === group)))
    .map((group) => ({
      property: `functions.reservedConcurrency.${group}`,
      reserved: functions.reservedConcurrency[group],
    }));
  if (events && draws(readsOf(operations, openGroups)))
    drawing.push({ property: 'events.reservedConcurrency', reserved: events.reservedConcurrency });
  return {
    ...rest,
    upstream: { ...upstream, limits: upstreamLimits },
    ...(events && { events }),
    ...(domain && { domain: resolveDomain(domain) }),
    functions,
    access: Object.fromEntries(open),
    limiter: resolveReserve(limiter, drawing, { operations, upstreamLimits }),
    cache: resolveCache(givenCache),
    plans: Object.entries({ default: {}, ...givenPlans }).map(resolvePlan),
    origins: cors.origins,
  };
}

function sentenceOf(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map(({ key }) => String(key));
  const where = path.join('.') || 'The configuration';
  // Tokens have a group too; saying "unknown" of it would send the deployer looking for a typing error.
  if (
    path[0] === 'groups' &&
    path.length === 2 &&
    (groups as Record<string, { exposure: string }>)[path[1]!]?.exposure === 'never'
  )
    return `${where} can never be opened: its operations issue credentials.`;
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return `${where} is not a property that can be configured here.`;
  const isOther = issue.expected === 'Object' && issue.received !== 'undefined';
  if (issue.type === 'strict_object' && !isOther) return `${where} is required.`;
  if (issue.type === 'strict_object' || issue.type === 'record') return `${where} takes an object.`;
  return `${where} ${issue.message}.`;
}
