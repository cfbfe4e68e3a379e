/** The audit of orders: changes of the journal in, lines in a table and events on a bus out. */

import type { Identity } from '../../lib/access/identity.ts';
import { createOrderAudit, type OrderAudit } from '../../lib/orders/audit.ts';
import { describe } from '../log/log.ts';
import { type Parts, readParts } from '../settings/parts.ts';
import { composeIdentity } from './credential.ts';
import type { OrderAuditPorts } from './ports.ts';
import type { Composition } from './start.ts';

type OrderAuditSettings = Parts['ORDER_AUDIT'] & Parts['IDENTITY'];

export interface ComposedAudit {
  readonly audit: OrderAudit;
  /** Opens what the journal's entries say. */
  readonly identity: Identity;
}

function composeOrderAudit(
  { tableName, busName, identityKeySecretId }: OrderAuditSettings,
  ports: OrderAuditPorts,
): ComposedAudit {
  const identity = composeIdentity(identityKeySecretId, ports);
  const failed = (event: string) => (cause: unknown) =>
    ports.log({ level: 'error', event, ...describe(cause) });
  const audit = createOrderAudit({
    store: ports.auditStore(tableName, identity.sealer),
    bus: ports.bus(busName, failed('order_event_not_published')),
    names: identity.names,
    reportFailure: failed('order_not_audited'),
  });
  return { audit, identity };
}

/** With a wrong environment the changes wait in the stream of the journal's table, for a day. */
export const orderAudit: Composition<OrderAuditSettings, OrderAuditPorts, ComposedAudit | undefined> = {
  read: (env) =>
    readParts(env, (parts) => ({ ...parts.required('ORDER_AUDIT'), ...parts.required('IDENTITY') })),
  compose: composeOrderAudit,
  wrong: () => undefined,
};
