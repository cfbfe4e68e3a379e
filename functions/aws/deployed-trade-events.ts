/**
 * The listener of trade events as it is deployed: the upstream's stream over HTTP/2, DynamoDB and EventBridge around the
 * core, and beside it a gateway of its own for the orders.
 */

import type { Context } from 'aws-lambda';
import { createIdentity } from '../../lib/access/identity.ts';
import { toCredential } from '../../lib/gateway/credential.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import { createLowPriorityLimiter } from '../../lib/lookups/index.ts';
import {
  createGatewayOrderReads,
  createTradeEventListener,
  orderReadOperations,
  type RunReport,
  type StreamCredential,
  type TradeEventBus,
} from '../../lib/trade-events/index.ts';
import { gatewayOptions } from './deployed.ts';
import { createDynamoClient } from './dynamo-client.ts';
import { createDynamoTradeEventStore } from './dynamo-trade-event-store.ts';
import type { Environment } from './environment.ts';
import { createEventBus } from './event-bridge.ts';
import { createGrpcTransport } from './grpc-transport.ts';
import { createIdentityKeyReader } from './identity-key.ts';
import { describe, type Log, writeLog } from './log.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';
import { readTradeEventsSettings, type TradeEventsSettings } from './trade-events-environment.ts';
import { createTradeEventsMetrics, type TradeEventsMetrics } from './trade-events-metrics.ts';
import { wrongConfiguration } from './wrong-configuration.ts';

export type TradeEventsHandler = (
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<RunReport>;

/** Of its time limit, what is left for the hand-over: a minute of fifteen. */
const handOverPart = 1 / 15;

/** While less than two permits of a limit are left, the listener takes one in two seconds. */
const lowPriority = { reserve: 2, pauseMs: 2000 };

/** A wrong environment is one line in the log of each start, and the alarm that no stream is there. */
export function deployedTradeEvents(
  env: Environment = process.env,
  log: Log = writeLog,
  clock: () => number = Date.now,
): TradeEventsHandler {
  const read = readTradeEventsSettings(env);
  if (!read.ok) return wrongConfiguration(log, read.faults);
  const functionName = env.AWS_LAMBDA_FUNCTION_NAME ?? '';
  const metrics = createTradeEventsMetrics(log, { functionName, clock });
  const listener = createListener(read.settings, env, log, metrics);
  return async (_event, context) => {
    const remaining = context.getRemainingTimeInMillis();
    const until = clock() + remaining * (1 - handOverPart);
    // Ends what hangs before Lambda does: a function that is cut off releases no lease.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), remaining * (1 - handOverPart / 4));
    try {
      const report = await listener.run({ until, signal: controller.signal });
      metrics.ran(report);
      return report;
    } finally {
      clearTimeout(timer);
    }
  };
}

function createListener(
  settings: TradeEventsSettings,
  env: Environment,
  log: Log,
  { report, refused }: TradeEventsMetrics,
) {
  const client = createDynamoClient();
  const appSecret = createSecretsManagerSource({
    secretId: settings.function.secretId,
    onFailure: (error) => log({ level: 'error', event: 'secret_not_read', ...describe(error) }),
  });
  const identity = createIdentity(createIdentityKeyReader(settings.identityKeySecretId, log));
  const limiter = createLowPriorityLimiter(lowPriority);
  const gateway = createGateway({
    ...gatewayOptions(settings.function, orderReadOperations, env, log, {
      client: () => client,
      lowPriority: limiter,
    }),
    access: 'single-user',
  });
  const bus = createEventBus({
    busName: settings.busName,
    onFailure: (error) => log({ level: 'error', event: 'trade_event_not_published', ...describe(error) }),
  });
  return createTradeEventListener({
    transport: createGrpcTransport({ url: settings.url }),
    orders: createGatewayOrderReads({ gateway }),
    store: createDynamoTradeEventStore({
      client,
      tableName: settings.tableName,
      sealer: identity.sealer,
    }),
    bus: counted(bus, refused),
    names: identity.names,
    readCredential: async () => toStreamCredential(await appSecret.read()),
    tuning: { compareEveryMs: settings.compareEveryMs },
    report,
  });
}

const counted = (bus: TradeEventBus, refused: (events: number) => void): TradeEventBus => ({
  async publish(events) {
    const taken = await bus.publish(events);
    const left = taken.filter((isTaken) => !isTaken).length;
    if (left > 0) refused(left);
    return taken;
  },
});

/** @throws Error whose code says what is wrong with the secret, and nothing of its text */
function toStreamCredential(text: string | undefined): StreamCredential {
  const read = toCredential(text, { clock: Date.now });
  if (!read.ok) throw Object.assign(new Error(read.code), { code: read.code });
  const { app_key: appKey, app_secret } = JSON.parse(text ?? '') as Record<string, string>;
  const { accessToken } = read.credential;
  return { appKey: appKey ?? '', appSecret: app_secret ?? '', ...(accessToken && { accessToken }) };
}
