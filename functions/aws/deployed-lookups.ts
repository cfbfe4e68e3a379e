/** The handler of lookups as it is deployed: SQS, EventBridge and DynamoDB around a gateway like any other function's. */

import { limits } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import { createLookups, createLowPriorityLimiter } from '../../lib/lookups/index.ts';
import { gatewayOptions } from './deployed.ts';
import { createDeployedAccess } from './deployed-access.ts';
import { createDynamoClient } from './dynamo-client.ts';
import { createDynamoLookupStore } from './dynamo-lookup-store.ts';
import type { Environment } from './environment.ts';
import { createEventBus } from './event-bridge.ts';
import { describe, type Log, writeLog } from './log.ts';
import { readLookupSettings } from './lookup-environment.ts';
import { createLookupHandler, type LookupHandler } from './lookup-handler.ts';
import { createLookupMetrics } from './lookup-metrics.ts';
import { createLookupQueue } from './sqs.ts';
import { wrongConfiguration } from './wrong-configuration.ts';

/** While less than half of the limit is left, all lookups together take one permit in this time. */
const pauseMs = 1000;

/**
 * A wrong environment is one line in the log, and no message is done: each comes back, and finally goes to the dead
 * letters, from where the operator redrives it when the deployment is right.
 */
export function deployedLookups(
  catalogue: readonly Operation[],
  env: Environment = process.env,
  log: Log = writeLog,
): LookupHandler {
  const read = readLookupSettings(env, catalogue);
  if (!read.ok) return wrongConfiguration(log, read.faults);
  const { function: settings, operations, instances, ...names } = read.settings;
  const { tableName, queueUrl, busQueueUrl, deadLetterUrl, busName } = names;
  const onFailure = (event: string) => (error: unknown) => log({ level: 'error', event, ...describe(error) });
  const lowPriority = createLowPriorityLimiter({
    reserve: Math.floor((limits['market-data'].requests * (settings.limiter?.share ?? 1)) / 2),
    pauseMs: pauseMs * instances,
  });
  const client = createDynamoClient();
  const access = settings.access && createDeployedAccess(settings.access, client, log);
  const lookups = createLookups({
    gateway: createGateway(
      gatewayOptions(settings, operations, env, log, {
        client: () => client,
        lowPriority,
        listing: symbolListing,
        access,
      }),
    ),
    operations,
    ages: settings.cache?.tuning,
    names: access?.names,
    store: createDynamoLookupStore({ client, tableName, sealer: access?.sealer }),
    queue: createLookupQueue({
      queueUrl,
      busQueueUrl,
      deadLetterUrl,
      onFailure: onFailure('lookup_not_put_back'),
    }),
    bus: createEventBus({ busName, onFailure: onFailure('lookup_not_published') }),
    report: createLookupMetrics(log, { functionName: env.AWS_LAMBDA_FUNCTION_NAME ?? '' }),
  });
  return createLookupHandler(lookups, Date.now, busQueueUrl);
}
