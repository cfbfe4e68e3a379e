/** The audit of orders: it alone writes the audit's table, from the stream of the journal. */

import { orderAuditHandler } from '../aws/order-audit.ts';
import { orderAuditPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { orderAudit } from '../compose/order-audit.ts';
import { start } from '../compose/start.ts';

const host = lambdaHost();

export const handler = orderAuditHandler(start(orderAudit, process.env, orderAuditPorts(host)), host.log);
