/** The limiter of a deployed function: what all functions on the same table send is counted in DynamoDB. */

import type { LimitName } from '../../lib/catalogue/limits.ts';
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

export function createDeployedLimiter(
  { tableName, bucket, share, reserve, operationLimits }: LimiterSettings,
  client: DynamoSender,
  functionName: string,
  log: Log,
  onReport: (report: LimiterReport) => void = () => {},
): { readonly limiter: Limiter; readonly metrics: LimiterMetrics } {
  const metrics = createLimiterMetrics(log, { functionName });
  const store = createDynamoLimiterStore({ client, tableName });
  const all = Object.entries(limiterLimits(operationLimits, share));
  const limiterOf = (isCountedHere: (wide: string) => boolean, ownBucket: string) =>
    createLimiter({
      store,
      limits: Object.fromEntries(all.filter(([name, { within = name }]) => isCountedHere(within))),
      bucket: ownBucket,
      reserve,
      report: (report) => {
        metrics.record(report);
        onReport(report);
      },
    });
  const others = limiterOf((wide) => wide !== apart, bucket);
  const instruments = limiterOf((wide) => wide === apart, `${bucket}.${apart}`);
  const limiterFor = (wide: string) => (wide === apart ? instruments : others);
  const limiter: Limiter = {
    acquire: (call) => limiterFor(call.limits[0]).acquire(call),
    block: (appKey, limit, retryAfterMs) => limiterFor(limit).block(appKey, limit, retryAfterMs),
  };
  return { limiter, metrics };
}
