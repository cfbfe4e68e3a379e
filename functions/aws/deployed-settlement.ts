/**
 * The settlement of unknown orders as it is deployed: started every minute, and by each trade event of an order. It reads
 * orders through a gateway of its own, at low priority and within the limits that all functions share.
 */

import type { Context } from 'aws-lambda';
import { createIdentity } from '../../lib/access/identity.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import { createLowPriorityLimiter } from '../../lib/lookups/index.ts';
import { createSettlement, type Settlement, type SettlementReport } from '../../lib/orders/settle.ts';
import { orderInEvent } from '../../lib/trade-events/event-order.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../lib/trade-events/gateway-order-reads.ts';
import { tradeEventNames } from '../../lib/trade-events/schemas.ts';
import { createCredentialName } from './credential-name.ts';
import { gatewayOptions } from './deployed.ts';
import { createDynamoClient } from './dynamo-client.ts';
import { createDynamoOrderJournal } from './dynamo-order-journal.ts';
import { embeddedMetrics } from './emf.ts';
import { type Environment, type FunctionSettings, readFunctionSettings, requiredOf } from './environment.ts';
import { createIdentityKeyReader } from './identity-key.ts';
import { describe, type Log, writeLog } from './log.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';
import { wrongConfiguration } from './wrong-configuration.ts';

export type SettlementHandler = (
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<SettlementReport | { readonly settled: boolean }>;

/** While less than two permits of a limit are left, it takes one in two seconds. */
const lowPriority = { reserve: 2, pauseMs: 2000 };
/** From the last read to the function’s end: a read with its wait for the limiter takes half a minute at most. */
const marginMs = 35_000;
/** A read that is refused waits so long for its turn; then the entry waits for the next run. */
const maxReadWaitMs = 15_000;

const units = {
  OrdersUnknown: 'Count',
  OrdersUnknownSeconds: 'Seconds',
  OrdersSettled: 'Count',
  OrderSettlementReads: 'Count',
} as const;

/** A wrong environment is one line in the log of each start, and the alarm that nothing is settled. */
export function deployedSettlement(
  env: Environment = process.env,
  log: Log = writeLog,
  clock: () => number = Date.now,
): SettlementHandler {
  const faults: string[] = [];
  const required = requiredOf(env, faults);
  const tableName = required('ORDER_JOURNAL_TABLE');
  const identityKeySecretId = required('IDENTITY_KEY_SECRET_ID');
  const read = readFunctionSettings({ ...env, IDENTITY_KEY_SECRET_ID: undefined }, orderReadOperations);
  if (!read.ok || faults.length > 0)
    return wrongConfiguration(log, [...(read.ok ? [] : read.faults), ...faults]);
  const settlement = create(read.settings, { env, log, tableName, identityKeySecretId });
  const functionName = env.AWS_LAMBDA_FUNCTION_NAME ?? '';
  return async (event, context) => {
    const { 'detail-type': type, detail } = (event ?? {}) as Readonly<Record<string, unknown>>;
    if (type === tradeEventNames.order) {
      const order = orderInEvent(detail);
      const settled = order !== undefined && (await settlement.saw(order));
      if (settled) log({ level: 'info', event: 'order_settled', evidence: 'event' });
      return { settled };
    }
    const report = await settlement.run(clock() + context.getRemainingTimeInMillis() - marginMs);
    const { accepted, refused, left, oldestMs, released, reads } = report;
    const values = {
      OrdersUnknown: left,
      OrdersUnknownSeconds: oldestMs / 1000,
      OrdersSettled: accepted + refused,
      OrderSettlementReads: reads,
    };
    log({
      level: 'info',
      event: 'orders_settled',
      accepted,
      refused,
      released,
      ...embeddedMetrics(units, { dimensions: { Function: functionName }, at: clock(), values }),
    });
    return report;
  };
}

interface Parts {
  readonly env: Environment;
  readonly log: Log;
  readonly tableName: string;
  readonly identityKeySecretId: string;
}

function create(settings: FunctionSettings, { env, log, tableName, identityKeySecretId }: Parts): Settlement {
  const client = createDynamoClient();
  const identity = createIdentity(createIdentityKeyReader(identityKeySecretId, log));
  const secret = createSecretsManagerSource({
    secretId: settings.secretId,
    onFailure: (error) => log({ level: 'error', event: 'secret_not_read', ...describe(error) }),
  });
  const gateway = createGateway({
    ...gatewayOptions(settings, orderReadOperations, env, log, {
      client: () => client,
      lowPriority: createLowPriorityLimiter(lowPriority),
    }),
    access: 'single-user',
  });
  const journal = createDynamoOrderJournal({ client, tableName, sealer: identity.sealer });
  return createSettlement({
    journal,
    counting: journal,
    orders: createGatewayOrderReads({ gateway, maxWaitMs: maxReadWaitMs }),
    names: identity.names,
    credential: createCredentialName(secret),
    reportFailure: (cause) => log({ level: 'warn', event: 'order_not_read', ...describe(cause) }),
  });
}
