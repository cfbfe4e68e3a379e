/** Functions as Lambda starts them, with the test's own log. */

import { orderPorts } from '../../functions/aws/order-ports.ts';
import { lambdaHost } from '../../functions/aws/ports.ts';
import { composeVerifier } from '../../functions/compose/access.ts';
import { group, start } from '../../functions/compose/functions.ts';
import { composeResponses } from '../../functions/compose/gateway.ts';
import type { GroupHandler, Offer } from '../../functions/compose/group.ts';
import { composeOrders } from '../../functions/compose/orders.ts';
import type { Host, OrderPorts } from '../../functions/compose/ports.ts';
import type { Log } from '../../functions/log/log.ts';
import type { Environment } from '../../functions/settings/parts.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';

export const hostWith = (log: Log, change: Partial<Host> = {}): Host => ({ ...lambdaHost(), log, ...change });

export const offerOf = (
  operations: readonly Operation[],
  more: Partial<Offer<OrderPorts>> = {},
): Offer<OrderPorts> => ({
  operations,
  lookUps: [],
  checks: undefined,
  verifier: composeVerifier,
  cache: composeResponses,
  orders: composeOrders,
  ...more,
});

/** The function of a group that offers these operations. */
export const startDeployed = (
  operations: readonly Operation[],
  env: Environment,
  log: Log,
  more?: Partial<Offer<OrderPorts>>,
): GroupHandler => start(group(offerOf(operations, more)), env, orderPorts(hostWith(log)));
