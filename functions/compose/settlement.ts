/**
 * The settlement of unknown orders: started every minute, and by each trade event of an order. It reads orders through a
 * gateway of its own, at low priority and within the limits that all functions share.
 */

import { orderReadOperations } from '../../lib/gateway/orders/reads.ts';
import { reconcile } from '../../lib/orders/reconcile.ts';
import { createSettlement, type SettlementReport, type SettlementWiring } from '../../lib/orders/settle.ts';
import { orderInEvent, tradeEventNames } from '../../lib/trade-events/bus-events.ts';
import { describe } from '../log/log.ts';
import { figuresOf } from '../log/metrics.ts';
import { type FunctionSettings, holderSettings } from '../settings/function-settings.ts';
import { type Parts, readParts } from '../settings/parts.ts';
import { composeAppSecret, composeIdentity } from './credential.ts';
import { composeOrderReads } from './holder.ts';
import { tableNames } from './orders.ts';
import type { SettlementPorts } from './ports.ts';
import { type Composition, fails, type WorkerHandler } from './start.ts';

export type SettlementHandler = WorkerHandler<SettlementReport | { readonly settled: boolean }>;

type SettlementSettings = Parts['SETTLEMENT'] & Parts['IDENTITY'] & { readonly function: FunctionSettings };

/** From the last read to the function’s end: a read with its wait for the limiter takes half a minute at most. */
const marginMs = 35_000;
/** A read that is refused waits so long for its turn; then the entry waits for the next run. */
const maxReadWaitMs = 15_000;

function composeSettlement(given: SettlementSettings, ports: SettlementPorts): SettlementHandler {
  const { function: settings, journalTable, auditTable, controlsTable, usersTable } = given;
  const { identityKeySecretId } = given;
  const { log, clock, sleep, functionName } = ports;
  const identity = composeIdentity(identityKeySecretId, ports);
  const secrets = composeAppSecret(settings.secretId, ports);
  const common = {
    orders: composeOrderReads(settings, ports, secrets, maxReadWaitMs),
    names: identity.names,
    clock,
    sleep,
    reportFailure: (cause: unknown) => log({ level: 'warn', event: 'order_not_read', ...describe(cause) }),
  };
  const journal = ports.journal(journalTable, identity.sealer);
  const tables = tableNames(journalTable, controlsTable, usersTable);
  const reconciliation = {
    ...common,
    journal: { ...journal, ...ports.recovery(journalTable, identity.sealer) },
    audit: ports.auditLines(auditTable, identity.sealer),
    checkpoints: ports.checkpoints(tables),
    tables,
  };
  const settlement = createSettlement({
    ...common,
    journal,
    reconcile: (until) => reconcile(reconciliation, until),
  } satisfies SettlementWiring);
  return async (event, context) => {
    const { 'detail-type': type, detail } = (event ?? {}) as Readonly<Record<string, unknown>>;
    if (type === tradeEventNames.order) {
      const order = orderInEvent(detail);
      const settled = order !== undefined && (await settlement.saw(order));
      if (settled) log({ level: 'info', event: 'order_settled', evidence: 'look_up' });
      return { settled };
    }
    const report = await settlement.run(clock() + context.getRemainingTimeInMillis() - marginMs);
    const { accepted, refused, left, apart, oldestMs, released, reads, compared, reconciled } = report;
    if (compared?.raised || compared?.above)
      log({ level: 'error', event: 'order_counters_differ', ...compared });
    if (reconciled)
      log({ level: 'error', event: 'orders_closed', ...reconciled, restored: reconciled.restored.join(' ') });
    const values = {
      OrdersClosed: reconciled?.restored.length ? 1 : 0,
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
      apart,
      released,
      ...figuresOf('Function', functionName, clock(), values),
    });
    return report;
  };
}

export const settlement: Composition<SettlementSettings, SettlementPorts, SettlementHandler> = {
  read: (env) =>
    readParts(env, (parts) => ({
      ...parts.required('SETTLEMENT'),
      ...parts.required('IDENTITY'),
      function: holderSettings(parts, orderReadOperations),
    })),
  compose: composeSettlement,
  wrong: fails,
};
