/**
 * The event stream of the simulated upstream: gRPC on loopback, over which it tells each change of its order book to
 * the streams that are open at that moment, and to no other.
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
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Between two pings, in milliseconds; 20 000 when absent, 0 for none. The upstream's own interval is not known. */
  readonly pingMs?: number;
  /** While a stream is open, how often orders live on by themselves, in milliseconds; 250 when absent. */
  readonly settleMs?: number;
  /** Streams that one app key may have open at one time; 1 when absent. */
  readonly streams?: number;
  /** What an event says of an order that is filled in part; `SUBMITTED` when absent. */
  readonly partlyFilled?: PartlyFilledStatus;
}

export interface SimulatedEvents {
  readonly port: number;
  /** Every subscription, oldest first: the last 10 000. */
  readonly subscriptions: readonly EventSubscription[];
  /** How many streams are open. */
  readonly open: number;
  /** The most that were open at one time. */
  readonly mostOpen: number;
  /** A ping on every stream, besides those of the interval. */
  ping(): void;
  /** A contract on an event was settled. `payload` takes the place of the usual one. */
  settlePosition(accountId: string, payload?: object): void;
  /** An option's status changed; of its payload nothing is known. */
  changeOption(accountId: string, payload: object): void;
  bring(fault: EventFault): void;
}

export interface EventServer extends SimulatedEvents {
  readonly changes: readonly LoggedChange[];
  close(): Promise<void>;
}

/** The members that are documented: none of them names the account. */
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
  // What ended before the start is no change of this run.
  orders.settle(clock());
  orders.observe((change) => streams.order(log.add(change)));
  const server = await serveGrpc({
    port: options.port ?? 0,
    path: eventPath,
    onCall: (call, answer) => streams.subscribe(call, answer),
  });
  const timers = [
    every(options.pingMs ?? 20_000, () => streams.ping()),
    every(options.settleMs ?? 250, () => {
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

/** The servers keep the process alive, and not this. */
const every = (ms: number, task: () => void): NodeJS.Timeout | undefined =>
  ms === 0 ? undefined : setInterval(task, ms).unref();
