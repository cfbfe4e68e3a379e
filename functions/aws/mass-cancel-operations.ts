/** What the function of mass cancels asks the upstream for: the stack gives it the limits and paths of these. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { orderReadOperations } from '../../lib/trade-events/gateway-order-reads.ts';

export const massCancelOperations: readonly Operation[] = [...orderReadOperations, cancelOrder];
