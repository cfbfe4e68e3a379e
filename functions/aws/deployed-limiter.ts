/** The limiter of a deployed function: what all functions on the same table send is counted in DynamoDB. */

import type { LimitName } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { createLimiter, type Limiter, type LimiterReport, limiterLimits } from '../../lib/gateway/index.ts';
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

/** @param operations those of the function */
export function createDeployedLimiter(
  { tableName, bucket, share, reserve, operationLimits, upstreamLimits }: LimiterSettings,
  operations: readonly Operation[],
  client: DynamoSender,
  functionName: string,
  log: Log,
  onReport: (report: LimiterReport) => void = () => {},
): { readonly limiter: Limiter; readonly metrics: LimiterMetrics } {
  const metrics = createLimiterMetrics(log, { functionName });
  const store = createDynamoLimiterStore({ client, tableName });
  const all = Object.entries(limiterLimits(operationLimits, share, { operations, upstreamLimits }));
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
        report: (report) => {
          metrics.record(report);
          onReport(report);
        },
      });
    limiters.set(own, limiter);
    return limiter;
  }
  // Made now, because what is reserved of a limit waits for an instance of some age.
  for (const name of wideOf.keys()) limiterFor(name);
  const limiter: Limiter = {
    acquire: (call) => limiterFor(call.limits[0]).acquire(call),
    block: (appKey, limit, retryAfterMs) => limiterFor(limit).block(appKey, limit, retryAfterMs),
  };
  return { limiter, metrics };
}
