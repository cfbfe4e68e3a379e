/** Finds what a row names: the offer of a function behind the API, or the composition of a worker. */

import * as functions from './compose/functions.ts';
import type { Offer } from './compose/group.ts';
import * as facts from './compose/offers.ts';
import * as ofOrders from './compose/order-offers.ts';
import type { OrderPorts, QuotePorts } from './compose/ports.ts';
import { type Composition, start, type WorkerHandler } from './compose/start.ts';
import { composedOf, type FunctionName, offeredBy, type WorkerName } from './rows.ts';
import type { Environment } from './settings/parts.ts';

const offers = { ...facts, ...ofOrders };
const compositions = { ...functions };

/** @returns undefined for a function whose answers are streams */
export function offerOf(name: FunctionName): Offer<QuotePorts & OrderPorts> | undefined {
  const offer = offeredBy(name);
  return offer && offers[offer]();
}

type Composed = (typeof compositions)[NonNullable<ReturnType<typeof composedOf>>];
/** Ports of all workers together, as a platform has them that runs them in one process. */
type WorkerPorts = Composed['compose'] extends (settings: never, ports: infer Ports) => WorkerHandler
  ? Ports
  : never;

/**
 * Starts a worker as one of all in a process.
 *
 * @returns undefined for a worker whose caller needs more than a handler of events
 */
export function startWorker(name: WorkerName, env: Environment, ports: WorkerPorts) {
  const composition = composedOf(name);
  // Its settings are its own: `start` reads them and hands them on.
  const composed =
    composition && (compositions[composition] as Composition<unknown, WorkerPorts, WorkerHandler>);
  return composed && start(composed, env, ports);
}
