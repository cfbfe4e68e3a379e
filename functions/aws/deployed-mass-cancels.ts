/**
 * The mass cancel as it is deployed: started every minute, and by each request for it. Its reads of orders wait for those
 * of clients, its cancels do not; each cancel has its entry in the journal, and all keep the limits that all share.
 */

import type { Context } from 'aws-lambda';
import { createIdentity } from '../../lib/access/identity.ts';
import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { getOrder } from '../../lib/catalogue/order-reads.ts';
import { createGateway, type GatewayOptions } from '../../lib/gateway/index.ts';
import { createGatewayCancels } from '../../lib/gateway/order-cancels.ts';
import { createLowPriorityLimiter } from '../../lib/lookups/index.ts';
import { createMassCancels, type MassCancelReport, type MassCancels } from '../../lib/orders/mass-cancel.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../lib/trade-events/gateway-order-reads.ts';
import { createCredentialName } from './credential-name.ts';
import { gatewayOptions } from './deployed.ts';
import { createDeployedJournal } from './deployed-journal.ts';
import { createDynamoClient } from './dynamo-client.ts';
import { createDynamoMassCancels } from './dynamo-mass-cancels.ts';
import { embeddedMetrics } from './emf.ts';
import { type Environment, type FunctionSettings, readFunctionSettings, requiredOf } from './environment.ts';
import { createIdentityKeyReader } from './identity-key.ts';
import { describe, type Log, writeLog } from './log.ts';
import { massCancelOperations } from './mass-cancel-operations.ts';
import { wrongConfiguration } from './wrong-configuration.ts';

export type MassCancelHandler = (
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
) => Promise<MassCancelReport>;

/** While less than two permits of a limit are left, a read takes one in two seconds. */
const lowPriority = { reserve: 2, pauseMs: 2000 };
/** A read that is refused waits so long for its turn; then its account is left to the next run. */
const maxReadWaitMs = 5000;
/** From the last read or cancel to the function’s end: a read with its wait takes 20 s at most. */
const marginMs = 25_000;

const units = {
  MassCancelsOpen: 'Count',
  MassCancelSeconds: 'Seconds',
} as const;

/** A wrong environment is one line in the log of each start, and the alarm that nothing is cancelled. */
export function deployedMassCancels(
  env: Environment = process.env,
  log: Log = writeLog,
  clock: () => number = Date.now,
): MassCancelHandler {
  const faults: string[] = [];
  const required = requiredOf(env, faults);
  const journalTable = required('ORDER_JOURNAL_TABLE');
  const controlsTable = required('TRADING_CONTROLS_TABLE');
  const identityKeySecretId = required('IDENTITY_KEY_SECRET_ID');
  const read = readFunctionSettings(
    { ...env, IDENTITY_KEY_SECRET_ID: undefined, ORDER_JOURNAL_TABLE: undefined },
    massCancelOperations,
  );
  if (!read.ok || faults.length > 0)
    return wrongConfiguration(log, [...(read.ok ? [] : read.faults), ...faults]);
  const massCancels = create(read.settings, { env, log, journalTable, controlsTable, identityKeySecretId });
  const functionName = env.AWS_LAMBDA_FUNCTION_NAME ?? '';
  return async (_, context) => {
    const report = await massCancels.run(clock() + context.getRemainingTimeInMillis() - marginMs);
    const { oldestMs, ...counts } = report;
    const values = {
      MassCancelsOpen: counts.requests - counts.finished,
      MassCancelSeconds: oldestMs / 1000,
    };
    log({
      level: 'info',
      event: 'open_orders_cancelled',
      ...counts,
      ...embeddedMetrics(units, { dimensions: { Function: functionName }, at: clock(), values }),
    });
    return report;
  };
}

interface Parts {
  readonly env: Environment;
  readonly log: Log;
  readonly journalTable: string;
  readonly controlsTable: string;
  readonly identityKeySecretId: string;
}

function create(settings: FunctionSettings, parts: Parts): MassCancels {
  const { env, log, journalTable, controlsTable, identityKeySecretId } = parts;
  const client = createDynamoClient();
  const { names, sealer } = createIdentity(createIdentityKeyReader(identityKeySecretId, log));
  // Reads pass the cache by: what is open now is not what was open before. A cancel ends what is shared of its account.
  const { cache: _, ...uncached } = settings;
  const reading: GatewayOptions = gatewayOptions(uncached, orderReadOperations, env, log, {
    client: () => client,
    lowPriority: createLowPriorityLimiter(lowPriority),
  });
  const cancelling: GatewayOptions = gatewayOptions(settings, [cancelOrder], env, log, {
    client: () => client,
    lookUps: [getOrder],
  });
  const { secrets } = reading;
  const orders = createDeployedJournal(journalTable, { client, log, names, sealer });
  const asHolder = { secrets, access: 'single-user' } as const;
  return createMassCancels({
    store: createDynamoMassCancels({ client, tableName: controlsTable }),
    orders: createGatewayOrderReads({
      gateway: createGateway({ ...reading, ...asHolder }),
      maxWaitMs: maxReadWaitMs,
    }),
    cancel: createGatewayCancels({
      gateway: createGateway({ ...cancelling, ...asHolder, orders: { ...orders, lookUps: [getOrder] } }),
    }),
    journal: orders.journal,
    names,
    credential: createCredentialName(secrets),
    reportFailure: (cause) => log({ level: 'warn', event: 'open_order_not_cancelled', ...describe(cause) }),
  });
}
