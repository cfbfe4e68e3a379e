/**
 * Event stream of the simulated upstream: gRPC on loopback. It sends each change of the order book to the streams that are
 * open at that moment, and to no later one.
 */

import type { SimulatedUpstream } from '../handle.ts';
import { ChangeLog, type LoggedChange, type PartlyFilledStatus } from '../trading/change-log.ts';
import type { EventFault } from './faults.ts';
import { serveGrpc } from './grpc-server.ts';
import { EventStreams, type EventSubscription } from './streams.ts';

export type { EventFault, OddEvent } from './faults.ts';
export type { EventSubscription } from './streams.ts';
export { subscriptionString, verifySubscription } from './verify.ts';

export const eventPath = '/grpc.trade.event.EventService/Subscribe';

export interface EventOptions {
  /** Port; 0, the default, takes any free one. */
  readonly port?: number;
  /** Milliseconds between two pings; 20 000 when absent, 0 for none. The upstream's own interval is not known. */
  readonly pingMs?: number;
  /** Milliseconds between two settlements of orders while a stream is open; 250 when absent. */
  readonly settleMs?: number;
  /** Streams that one app key may have open at a time; 1 when absent. */
  readonly streams?: number;
  /** Status in the event of an order that is filled in part; `SUBMITTED` when absent. */
  readonly partlyFilled?: PartlyFilledStatus;
}

export interface SimulatedEvents {
  readonly port: number;
  /** Subscriptions, oldest first: the last 10 000. */
  readonly subscriptions: readonly EventSubscription[];
  /** Number of open streams. */
  readonly open: number;
  /** Largest number of streams that were open at a time. */
  readonly mostOpen: number;
  /** Sends a ping on every stream, besides those of the interval. */
  ping(): void;
  /** Settles a contract on an event. `payload` replaces the usual one. */
  settlePosition(accountId: string, payload?: object): void;
  /** Changes an option's status; nothing is known about the event's payload. */
  changeOption(accountId: string, payload: object): void;
  bring(fault: EventFault): void;
}

interface EventServer extends SimulatedEvents {
  readonly changes: readonly LoggedChange[];
  close(): Promise<void>;
}

/** Documented members of the payload; none of them names the account. */
const usualSettlement = {
  event_name: 'Does the index close above 6900?',
  yes_condition: 'Above 6900',
  settle_result: 'YES',
  settle_side: 'YES',
  quantity: '10',
  cost: '5.20',
  settle_amount: '10.00',
};

export async function startEvents(
  upstream: SimulatedUpstream,
  clock: () => number,
  options: EventOptions,
): Promise<EventServer> {
  const { orders } = upstream.world;
  const streams = new EventStreams(upstream, clock, options.streams ?? 1);
  const log = new ChangeLog(options.partlyFilled ?? 'SUBMITTED');
  // Orders that ended before the start are no changes of this run.
  orders.settle(clock());
  orders.observe((change) => streams.order(log.add(change)));
  const server = await serveGrpc({
    port: options.port ?? 0,
    path: eventPath,
    onCall: (call, answer) => streams.subscribe(call, answer),
  });
  const timers = [
    runEvery(options.pingMs ?? 20_000, () => streams.ping()),
    runEvery(options.settleMs ?? 250, () => {
      if (streams.open > 0) orders.settle(clock());
    }),
  ];
  return {
    port: server.port,
    changes: log.changes,
    subscriptions: streams.subscriptions,
    get open() {
      return streams.open;
    },
    get mostOpen() {
      return streams.mostOpen;
    },
    ping: () => streams.ping(),
    settlePosition: (accountId, payload = usualSettlement) => streams.data('position', accountId, payload),
    changeOption: (accountId, payload) => streams.data('option', accountId, payload),
    bring: (fault) => streams.bring(fault),
    close: () => {
      for (const timer of timers) clearInterval(timer);
      return server.close();
    },
  };
}

/** Runs a task at an interval that does not keep the process alive, as the servers do. */
const runEvery = (ms: number, task: () => void): NodeJS.Timeout | undefined =>
  ms === 0 ? undefined : setInterval(task, ms).unref();
