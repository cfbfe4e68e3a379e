/**
 * The mass cancel: started every minute, and by each request for it. Its reads of orders wait for those of clients, its
 * cancels do not; each cancel has its entry in the journal, and all keep the limits that all share.
 */

import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { getOrder } from '../../lib/catalogue/order-reads.ts';
import {
  createGatewayCancels,
  type GatewayCancelsWiring,
  massCancelOperations,
} from '../../lib/gateway/orders/cancels.ts';
import {
  createMassCancels,
  type MassCancelReport,
  type MassCancelsWiring,
} from '../../lib/orders/mass-cancel.ts';
import { describe } from '../log/log.ts';
import { figuresOf } from '../log/metrics.ts';
import { type FunctionSettings, holderSettings } from '../settings/function-settings.ts';
import { type Parts, readParts } from '../settings/parts.ts';
import { composeAppSecret, composeIdentity } from './credential.ts';
import { composeOrderChanges, composeOrderReads } from './holder.ts';
import { composeUnguarded } from './orders.ts';
import type { MassCancelPorts } from './ports.ts';
import { type Composition, fails, type WorkerHandler } from './start.ts';

type MassCancelHandler = WorkerHandler<MassCancelReport>;

type MassCancelSettings = Parts['MASS_CANCELS'] &
  Parts['IDENTITY'] & { readonly function: FunctionSettings; readonly journalTable: string };

/** A read that is refused waits so long for its turn; then its account is left to the next run. */
const maxReadWaitMs = 5000;
/** From the last read or cancel to the function’s end: a read with its wait takes 20 s at most. */
const marginMs = 25_000;

function composeMassCancels(
  { function: settings, journalTable, controlsTable, identityKeySecretId }: MassCancelSettings,
  ports: MassCancelPorts,
): MassCancelHandler {
  const { log, clock, sleep, functionName } = ports;
  const identity = composeIdentity(identityKeySecretId, ports);
  const secrets = composeAppSecret(settings.secretId, ports);
  const lookUps = [getOrder];
  const orders = composeUnguarded(settings, ports, { journalTable, identity, lookUps, secrets });
  const gateway = composeOrderChanges(settings, ports, secrets, { operations: [cancelOrder], orders });
  const massCancels = createMassCancels({
    store: ports.massCancels(controlsTable),
    orders: composeOrderReads(settings, ports, secrets, maxReadWaitMs),
    cancel: createGatewayCancels({ gateway, clock, sleep } satisfies GatewayCancelsWiring),
    journal: ports.journal(journalTable, identity.sealer),
    names: identity.names,
    clock,
    reportFailure: (cause) => log({ level: 'warn', event: 'open_order_not_cancelled', ...describe(cause) }),
  } satisfies MassCancelsWiring);
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
      ...figuresOf('Function', functionName, clock(), values),
    });
    return report;
  };
}

export const massCancels: Composition<MassCancelSettings, MassCancelPorts, MassCancelHandler> = {
  read: (env) =>
    readParts(env, (parts) => ({
      ...parts.required('MASS_CANCELS'),
      ...parts.required('IDENTITY'),
      journalTable: parts.required('JOURNAL').tableName,
      function: holderSettings(parts, massCancelOperations),
    })),
  compose: composeMassCancels,
  wrong: fails,
};
