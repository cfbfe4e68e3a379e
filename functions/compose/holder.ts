/** Gateways of workers: each asks as the holder of the app key, at low priority where clients come first. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import type { Gateway, SecretSource } from '../../lib/gateway/index.ts';
import {
  createGatewayOrderReads,
  type GatewayOrderReadsWiring,
  orderReadOperations,
} from '../../lib/gateway/orders/reads.ts';
import type { OrdersStep } from '../../lib/gateway/orders-port.ts';
import { createLowPriorityLimiter } from '../../lib/limiter/low-priority.ts';
import type { OrderReads } from '../../lib/orders/order-reads.ts';
import type { FunctionSettings } from '../settings/function-settings.ts';
import { composeGateway, composeResponses } from './gateway.ts';
import type { GatewayPorts } from './ports.ts';

/** While less than two permits of a limit are left, a read takes one in two seconds. */
const lowPriority = { reserve: 2, pauseMs: 2000 };

/**
 * Reads of orders, past the cache: what is open now is not what was open before.
 *
 * @param maxWaitMs how long one that the limiter refuses waits for its turn; the reads' own default when `undefined`
 */
export function composeOrderReads(
  settings: FunctionSettings,
  ports: GatewayPorts,
  secrets: SecretSource,
  maxWaitMs: number | undefined,
): OrderReads {
  const { clock, sleep } = ports;
  const gateway = composeGateway(settings, ports, {
    operations: orderReadOperations,
    lookUps: [],
    cache: undefined,
    lowPriority: createLowPriorityLimiter({ ...lowPriority, clock }),
    secrets,
    access: 'single-user',
    orders: undefined,
  });
  return createGatewayOrderReads({ gateway, clock, sleep, maxWaitMs } satisfies GatewayOrderReadsWiring);
}

/** Requests with a side effect: each has its entry in the journal. They wait for nothing but the limits. */
export const composeOrderChanges = (
  settings: FunctionSettings,
  ports: GatewayPorts,
  secrets: SecretSource,
  { operations, orders }: { readonly operations: readonly Operation[]; readonly orders: OrdersStep },
): Gateway =>
  composeGateway(settings, ports, {
    operations,
    lookUps: orders.lookUps,
    lowPriority: undefined,
    secrets,
    access: 'single-user',
    // A change ends what is shared of its account.
    cache: composeResponses(settings, ports),
    orders,
  });
