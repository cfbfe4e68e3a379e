/** The journal of orders of a function, and the guard rails that count in it. */

import type { Identity } from '../../lib/access/identity.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { PricedKind } from '../../lib/gateway/last-prices.ts';
import type { LastPrices } from '../../lib/guard-rails/last-price.ts';
import type { OrdersOptions } from '../../lib/orders/hand-over.ts';
import { orderReports } from '../log/order-metrics.ts';
import type { GuardSettings } from '../settings/settings.ts';
import { every } from './every.ts';
import type { GatewayPorts } from './ports.ts';

export interface OrderParts {
  readonly journalTable: string;
  /** Names and seals entries. */
  readonly identity: Identity;
  readonly lookUps: readonly Operation[];
  /** For a function that places or replaces orders, where operators set limits. */
  readonly guard: GuardSettings | undefined;
  readonly prices: Readonly<Record<PricedKind, LastPrices>> | undefined;
}

export function composeOrders(
  { journalTable, identity, lookUps, guard, prices }: OrderParts,
  ports: GatewayPorts,
): OrdersOptions {
  const journal = ports.journal(journalTable, identity.sealer);
  const { log, clock, sleep } = ports;
  return every<OrdersOptions>({
    journal,
    names: identity.names,
    lookUps,
    members: guard?.orderMembers,
    guard:
      guard &&
      every<NonNullable<OrdersOptions['guard']>>({
        journal,
        controls: ports.controls(guard.tableName),
        storeTime: ports.storeTime,
        massCancels: ports.massCancelRequests(guard.tableName),
        limits: guard.limits,
        lastPrices: prices?.stock,
        optionPrices: prices?.option,
      }),
    sleep,
    ...orderReports({ log, clock, journalTable, controlsTable: guard?.tableName }),
  });
}
