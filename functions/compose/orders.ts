/** What functions do with the journal of orders: hand over what they send, under guard rails or not, or read it alone. */

import type { PricedKind } from '../../lib/gateway/orders/last-prices.ts';
import { ordersStep, outcomesStep, unguardedStep } from '../../lib/gateway/orders/step.ts';
import type { OrdersStep } from '../../lib/gateway/orders-port.ts';
import type { TableNames } from '../../lib/guard-rails/checkpoints.ts';
import type { LastPrices } from '../../lib/guard-rails/last-price.ts';
import type { OrdersWiring } from '../../lib/orders/hand-over.ts';
import type { OrderJournal } from '../../lib/orders/index.ts';
import { orderReports } from '../log/order-metrics.ts';
import type { FunctionSettings } from '../settings/function-settings.ts';
import type { GuardSettings } from '../settings/parts.ts';
import type { JournalParts } from './group.ts';
import { composeLastPrices } from './last-prices.ts';
import type { JournalPorts, OrderPorts } from './ports.ts';

/** Of a function that places or replaces orders. */
export const composeOrders = (
  settings: FunctionSettings,
  ports: OrderPorts,
  parts: JournalParts,
): OrdersStep =>
  ordersStep(
    orderOptions(settings.guard, composeLastPrices(settings, ports, parts.secrets), ports, {
      ...parts,
      usersTable: settings.access?.tableName,
    }),
  );

export function orderOptions(
  guard: GuardSettings | undefined,
  prices: Readonly<Record<PricedKind, LastPrices>> | undefined,
  ports: OrderPorts,
  parts: Omit<JournalParts, 'secrets'> & { readonly usersTable: string | undefined },
): OrdersWiring {
  const journal = ports.journal(parts.journalTable, parts.identity.sealer);
  return {
    ...journaled(journal, guard?.tableName, ports, parts),
    members: guard?.orderMembers,
    guard: guard && {
      journal,
      controls: ports.controls(guard.tableName, tableNames(parts.journalTable, undefined, parts.usersTable)),
      storeTime: ports.storeTime,
      massCancels: ports.massCancelRequests(guard.tableName),
      limits: guard.limits,
      lastPrices: prices?.stock,
      optionPrices: prices?.option,
    },
  };
}

/** Of tables that have checkpoints, those that there are. */
export const tableNames = (
  journal: string,
  controls: string | undefined,
  users: string | undefined,
): TableNames => ({ journal, ...(controls && { controls }), ...(users && { users }) });

/** Of a function whose requests no guard rail is about: cancels, changes of watchlists. */
export const composeUnguarded = (_: unknown, ports: JournalPorts, parts: JournalParts): OrdersStep =>
  unguardedStep(bareJournal(ports, parts));

/** Of a function that tells what became of orders, and sends none. */
export const composeOutcomes = (_: unknown, ports: JournalPorts, parts: JournalParts): OrdersStep =>
  outcomesStep(bareJournal(ports, parts));

const bareJournal = (ports: JournalPorts, parts: JournalParts) =>
  journaled(ports.journal(parts.journalTable, parts.identity.sealer), undefined, ports, parts);

/** What every use of the journal has; each of its options is named here. */
const journaled = (
  journal: OrderJournal,
  controlsTable: string | undefined,
  { log, clock, sleep }: JournalPorts,
  { journalTable, identity, lookUps }: Omit<JournalParts, 'secrets'>,
) => ({
  journal,
  names: identity.names,
  lookUps,
  sleep,
  ...orderReports({ log, clock, journalTable, controlsTable }),
});
