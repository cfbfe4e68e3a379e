/**
 * The limiter of a deployed function: what all functions on the same table send is counted in DynamoDB, and so is whether
 * they keep tighter limits than those that are configured.
 */

import type { LimitName } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import {
  createLimiter,
  createLimitsInForce,
  type Limiter,
  type LimiterReport,
  limiterLimits,
  limitsInForceKey,
  type Tightening,
  tighterLimiterLimits,
} from '../../lib/gateway/index.ts';
import type { LimiterStore, ReserveOptions } from '../../lib/limiter/index.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoLimiterStore } from './dynamo-limiter-store.ts';
import type { LimiterSettings } from './environment.ts';
import { createLimiterMetrics, type LimiterMetrics } from './limiter-metrics.ts';
import type { Log } from './log.ts';

/**
 * Counted in an item of its own: with it, the item of market data would be more than twice as large, and each write to
 * it would cost twice as many units.
 */
const apart: LimitName = 'instruments';

/** Endpoints with a counter that is within no other have an item each: none of their requests needs another's. */
const bucketOf = (wide: string, bucket: string) =>
  wide === apart || wide.startsWith('endpoint.') ? `${bucket}.${wide}` : bucket;

/** Divides any reserve to less than one request. */
export const maxInstances = Number.MAX_SAFE_INTEGER;

export interface DeployedLimiter {
  readonly limiter: Limiter;
  readonly tightening: Tightening;
  readonly metrics: LimiterMetrics;
}

/** @param operations those of the function */
export function createDeployedLimiter(
  { tableName, bucket, share, reserve, operationLimits, upstreamLimits }: LimiterSettings,
  operations: readonly Operation[],
  client: DynamoSender,
  functionName: string,
  log: Log,
  onReport: (report: LimiterReport) => void = () => {},
): DeployedLimiter {
  const store = createDynamoLimiterStore({ client, tableName });
  const inForce = createLimitsInForce({ store, key: limitsInForceKey(bucket, upstreamLimits) });
  const metrics = createLimiterMetrics(log, { functionName, tableName, steps: () => inForce.known });
  const report = (one: LimiterReport) => {
    metrics.record(one);
    onReport(one);
  };
  return {
    metrics,
    limiter: createItemLimiters(limiterLimits(operationLimits, share, { operations, upstreamLimits }), {
      bucket,
      store,
      report,
      reserve,
    }),
    tightening: {
      inForce,
      share,
      limiterFor: (tighter) =>
        createItemLimiters(
          tighterLimiterLimits(operationLimits, share, { operations, upstreamLimits: tighter }),
          // M counts the functions that draw on the configured limits. The reserve stays reserved, and is not used.
          { bucket, store, report, ...(reserve && { reserve: { ...reserve, instances: maxInstances } }) },
        ),
      report: metrics.rateLimited,
    },
  };
}

interface Parts extends Pick<LimiterSettings, 'bucket'> {
  readonly reserve?: ReserveOptions | undefined;
  readonly store: LimiterStore;
  readonly report: (report: LimiterReport) => void;
}

/** One limiter over several items, in each of which the limits are that some request counts against together. */
function createItemLimiters(
  limits: ReturnType<typeof limiterLimits>,
  { bucket, reserve, store, report }: Parts,
): Limiter {
  const all = Object.entries(limits);
  const limiters = new Map<string, Limiter>();
  const wideOf = new Map(all.map(([name, { within = name }]) => [name, within]));
  function limiterFor(name: string): Limiter {
    const own = bucketOf(wideOf.get(name) ?? name, bucket);
    const limiter =
      limiters.get(own) ??
      createLimiter({
        store,
        limits: Object.fromEntries(all.filter(([one, { within = one }]) => bucketOf(within, bucket) === own)),
        bucket: own,
        reserve,
        report,
      });
    limiters.set(own, limiter);
    return limiter;
  }
  // Made now, because what is reserved of a limit waits for an instance of some age.
  for (const name of wideOf.keys()) limiterFor(name);
  return {
    acquire: (call) => limiterFor(call.limits[0]).acquire(call),
    block: (appKey, limit, retryAfterMs) => limiterFor(limit).block(appKey, limit, retryAfterMs),
    used: (appKey, limit) => limiterFor(limit).used(appKey, limit),
  };
}
