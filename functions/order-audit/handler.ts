/** The audit of orders: it alone writes the audit's table, from the stream of the journal. */

import { deployedOrderAudit } from '../aws/deployed-order-audit.ts';

export const handler = deployedOrderAudit();
