/** The whole configuration as one schema: what each property may be, and its default. */

import * as v from 'valibot';
import { originFault } from '../../functions/events/cors.ts';
import { type Group, groups, openable } from '../../lib/catalogue/index.ts';
import { modesFor } from '../access-modes.ts';
import { authSchema } from './auth-config.ts';
import { cacheSchema } from './cache-config.ts';
import { domainSchema } from './domain-config.ts';
import { functionsSchema } from './functions-config.ts';
import { limiterSchema } from './limiter-config.ts';
import { liveSchema } from './live-config.ts';
import { eventsSchema } from './lookups-config.ts';
import { marketStreamSchema } from './market-stream-config.ts';
import { plansSchema } from './plans-config.ts';
import {
  email,
  faultless,
  firehoseArn,
  keyArn,
  matching,
  oneOf,
  secretArn,
  topicArn,
  webAclArn,
  whole,
} from './schema-parts.ts';
import { accessTokenSchema } from './token-config.ts';
import { tradeEventsSchema } from './trade-events-config.ts';
import { tradingSchema } from './trading-config.ts';
import { upstreamSchema } from './upstream-config.ts';

function accessSchemaOf(group: Group) {
  const modes = [...modesFor(group), 'closed'] as const;
  return groups[group].exposure === 'open'
    ? oneOf(...modes)
    : v.picklist(modes, `takes ${modes.join(' or ')}: its operations belong to accounts`);
}

/** CloudWatch's own choice, but for ever. Written out: to load the CDK takes a second, and a package need not have it. */
export const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

export const config = v.strictObject({
  upstream: upstreamSchema,
  groups: v.optional(
    v.strictObject(Object.fromEntries(openable.map((group) => [group, v.optional(accessSchemaOf(group))]))),
    {},
  ),
  auth: v.optional(authSchema),
  throttle: v.optional(
    v.strictObject({
      ratePerSecond: v.optional(whole(1, 10_000), 100),
      burst: v.optional(whole(1, 5000), 200),
    }),
    {},
  ),
  plans: v.optional(plansSchema, {}),
  limiter: v.optional(limiterSchema, {}),
  events: v.optional(eventsSchema),
  accessToken: v.optional(accessTokenSchema),
  tradeEvents: v.optional(tradeEventsSchema),
  trading: v.optional(tradingSchema),
  cors: v.optional(
    v.strictObject({
      origins: v.pipe(
        v.array(faultless((text) => (text === '*' ? undefined : originFault(text)), 'takes an origin')),
        v.check((origins) => new Set(origins).size === origins.length, 'has the same origin twice'),
        v.check(
          (origins) => !origins.includes('*') || origins.length === 1,
          'takes * only alone: it lets every origin in already',
        ),
      ),
    }),
    { origins: [] },
  ),
  marketDataUse: v.optional(oneOf('own-use', 'licensed')),
  cache: v.optional(cacheSchema, {}),
  live: v.optional(liveSchema),
  marketStream: v.optional(marketStreamSchema),
  functions: v.optional(functionsSchema, {}),
  logs: v.optional(
    v.strictObject({
      retentionDays: v.optional(v.picklist(retentionDays, `takes one of ${retentionDays.join(', ')}`), 30),
      access: v.optional(oneOf('off', 'use-account-role', 'set-account-role'), 'off'),
      firehoseArn: v.optional(firehoseArn),
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
  alarmTopic: v.optional(topicArn),
  alarms: v.optional(oneOf('on', 'off'), 'on'),
  existingSecret: v.optional(secretArn),
  alarmEmail: v.optional(email),
  dashboard: v.optional(oneOf('on', 'off'), 'on'),
  encryptionKey: v.optional(keyArn),
  webAclArn: v.optional(webAclArn),
  canary: v.optional(
    v.strictObject({
      everyMinutes: v.optional(whole(1, 7), 5),
      symbol: v.optional(matching(/^[A-Z.]{1,10}$/, 'takes the symbol of a US stock, such as AAPL'), 'AAPL'),
    }),
  ),
  onRemoval: v.optional(oneOf('destroy', 'retain'), 'destroy'),
});

export type Parts = v.InferOutput<typeof config>;

/** Properties that the schema has resolved already. */
export type GivenParts = Readonly<
  Pick<
    Parts,
    | 'throttle'
    | 'accessToken'
    | 'logs'
    | 'stageName'
    | 'alarmTopic'
    | 'alarms'
    | 'existingSecret'
    | 'alarmEmail'
    | 'dashboard'
    | 'encryptionKey'
    | 'webAclArn'
    | 'canary'
    | 'onRemoval'
  >
>;
