/**
 * The workers with their compositions, by the names of their rows; `functions/<name>/handler.ts` joins a composition to the
 * ports of AWS.
 */

import { operations } from '../lib/catalogue/index.ts';
import * as functions from './compose/functions.ts';
import type * as ports from './compose/ports.ts';
import { type Composition, start, type WorkerHandler } from './compose/start.ts';
import type { Environment } from './settings/parts.ts';
import { type WorkerName, type WorkerRow, workerNames, workerRows } from './worker-rows.ts';

export { type WorkerName, workerNames };

/** Ports of all workers together, as a platform has them that runs them in one process. */
type WorkerPorts = ports.CanaryPorts &
  ports.MarketStreamPorts &
  ports.MassCancelPorts &
  ports.SettlementPorts &
  ports.TradeEventPorts &
  ports.TradingStopPorts;

interface WorkerComposition {
  readonly read: (env: Environment) => unknown;
  /** Starts it in a process of all; absent where the caller needs more than a handler of events. */
  readonly start?: (env: Environment, ports: WorkerPorts) => WorkerHandler;
}

const composedOf = <Settings, Ports extends ports.Host>(
  composition: Composition<Settings, Ports, WorkerHandler>,
) => ({
  read: composition.read,
  start: (env: Environment, ports: Ports) => start(composition, env, ports),
});

const compositions: Readonly<Record<WorkerName, WorkerComposition>> = {
  authorizer: { read: functions.authorizer.read },
  'quote-lookup': { read: functions.lookups(operations).read },
  'access-token': composedOf(functions.tokenCheck),
  canary: composedOf(functions.canary),
  'trade-events': composedOf(functions.tradeEvents),
  'market-stream': composedOf(functions.marketStream),
  'order-settlement': composedOf(functions.settlement),
  'order-audit': { read: functions.orderAudit.read },
  'mass-cancels': composedOf(functions.massCancels),
  'trading-stop': composedOf(functions.tradingStop),
};

export const workers = Object.fromEntries(
  workerNames.map((name) => [name, { ...workerRows[name], ...compositions[name] }]),
) as Readonly<Record<WorkerName, WorkerRow & WorkerComposition>>;
