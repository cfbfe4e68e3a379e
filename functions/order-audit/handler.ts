/** The audit of orders: it alone writes the audit's table, from the stream of the journal. */

import { orderAuditHandler } from '../aws/order-audit.ts';
import { lambdaHost, orderAuditPorts } from '../aws/ports.ts';
import { orderAudit, start } from '../compose/functions.ts';

const host = lambdaHost();

export const handler = orderAuditHandler(start(orderAudit, process.env, orderAuditPorts(host)), host.log);
