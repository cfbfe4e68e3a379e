/** The limiter of a deployed function: what all functions on the same table send is counted in DynamoDB. */

import { createLimiter, type Limiter, type LimiterReport, limiterLimits } from '../../lib/gateway/index.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoLimiterStore } from './dynamo-limiter-store.ts';
import type { LimiterSettings } from './environment.ts';
import { createLimiterMetrics, type LimiterMetrics } from './limiter-metrics.ts';
import type { Log } from './log.ts';

export function createDeployedLimiter(
  { tableName, bucket, share, reserve, operationLimits }: LimiterSettings,
  client: DynamoSender,
  functionName: string,
  log: Log,
  onReport: (report: LimiterReport) => void = () => {},
): { readonly limiter: Limiter; readonly metrics: LimiterMetrics } {
  const metrics = createLimiterMetrics(log, { functionName });
  const limiter = createLimiter({
    store: createDynamoLimiterStore({ client, tableName }),
    limits: limiterLimits(operationLimits, share),
    bucket,
    reserve,
    report: (report) => {
      metrics.record(report);
      onReport(report);
    },
  });
  return { limiter, metrics };
}
