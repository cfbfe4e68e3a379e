/**
 * The strict simulated upstream: an HTTP server on this machine that verifies every request's signature
 * with its own code, keeps the interface's rules and answers from an invented, repeatable market.
 */

import type { LimitName, Operation, UpstreamLimits } from '../../lib/catalogue/index.ts';
import { operations, routesOf } from '../../lib/catalogue/index.ts';
import { type EventOptions, type SimulatedEvents, startEvents } from './events/index.ts';
import type { ChooseFault } from './faults.ts';
import type { SimulatedUpstream } from './handle.ts';
import type { Category } from './market/instrument.ts';
import {
  type MarketStreamOptions,
  type SimulatedMarketStream,
  startMarketStream,
} from './market-stream/index.ts';
import { NonceMemory } from './nonces.ts';
import { type ReceivedHeaders, ReceivedLog } from './received.ts';
import { RequestCounters, type Window } from './request-counters.ts';
import { serve } from './server.ts';
import { createExchange, type Exchange } from './trading/exchange.ts';
import type { StoredOrder } from './trading/stored-order.ts';
import { createWorld, type Holder, type Product } from './world.ts';

export { checkBodyRules } from './body-rules.ts';
export { canonicalString, type Field, parseTarget, signatureOf } from './canonical.ts';
export { faultsByChance, loseFirstAnswers } from './chance.ts';
export {
  type EventFault,
  eventPath,
  type OddEvent,
  subscriptionString,
  verifySubscription,
} from './events/index.ts';
export type { ApiFault, ChooseFault, FaultRequest } from './faults.ts';
export type { MarketStreamFault, OddMessage, PushedMessage } from './market-stream/index.ts';
export type { LoggedChange } from './trading/change-log.ts';
export { type VerifyOptions, verifyRequest, type WireRequest } from './verify.ts';

export interface AppSecrets {
  readonly appKey: string;
  readonly appSecret: string;
}

export interface SimulatorOptions extends AppSecrets {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** App keys of the other environment: to a request with one of them no path is known. */
  readonly foreignKeys?: readonly string[];
  /**
   * Ids of operations whose paths the upstream does not route. Absent: those that were seen to answer 404 live,
   * which is the query form of stock bars, `getStockBars`.
   */
  readonly unrouted?: readonly string[];
  /** When set, x-access-token must be this, or a token that was issued and approved. */
  readonly accessToken?: string;
  /**
   * How long a new token waits for its owner's approval; 3000 when absent. One that waits for more than five
   * minutes is never approved.
   */
  readonly tokenApprovalMs?: number;
  /** Whether a token lives longer for being used; true when absent, as was seen. */
  readonly tokenUseProlongs?: boolean;
  /** Market data that the user has not subscribed to; none when absent. */
  readonly unsubscribed?: readonly Product[];
  /** Price levels of the book that the user may ask for; 50, level 2, when absent. */
  readonly depthLevels?: number;
  /** Another seed is another market; 1 when absent. */
  readonly seed?: number;
  /** Unix time in milliseconds; the machine's clock when absent. */
  readonly clock?: () => number;
  /** How far x-timestamp may be from the clock, in seconds either way; 300 when absent. */
  readonly toleranceSeconds?: number;
  /** Other figures for the catalogue's request limits. */
  readonly limits?: Partial<Record<LimitName, Window>>;
  /** What each endpoint is allowed besides: a preset, or figures by kind. Default `interface`, which is nothing. */
  readonly upstreamLimits?: UpstreamLimits;
  /** Asked for every request that arrives; what it returns goes wrong. */
  readonly fault?: ChooseFault;
  /** For how many milliseconds no read shows an order that was placed; 0 when absent. See `Exchange.showAfter`. */
  readonly showAfterMs?: number | undefined;
  /** The event stream: its port, pings and connection limit. */
  readonly events?: EventOptions;
  /** The market-data stream: its port, certificate, limits and intervals. Absent: there is none, and no session either. */
  readonly marketStream?: MarketStreamOptions;
  /**
   * `other`: where sources disagree on the form of a member of an answer, such as a time in milliseconds or as text, it
   * has the form that it does not have otherwise.
   */
  readonly forms?: 'other';
  /** Other operations than the catalogue's. */
  readonly operations?: readonly Operation[];
}

export interface Simulator {
  /** `http://127.0.0.1:` and the port. */
  readonly url: string;
  readonly port: number;
  /** The last 10 000 requests, oldest first. */
  readonly received: readonly ReceivedHeaders[];
  /** How many requests had each outcome, since the start; see `Received.outcome`. */
  readonly counts: Readonly<Record<string, number>>;
  /** When each request came that counts against the limit now, Unix time in milliseconds. */
  counted(limit: LimitName): readonly number[];
  /** Every order that a request placed, oldest first. */
  readonly orders: readonly StoredOrder[];
  readonly accounts: readonly Holder[];
  /** What happened to orders, and what tests make happen to them. */
  readonly trading: Exchange;
  /** The event stream, `127.0.0.1` and its port, in plaintext. */
  readonly events: SimulatedEvents;
  /** The market-data stream, where the options ask for it. */
  readonly marketStream: SimulatedMarketStream | undefined;
  /** From now on this chooses what goes wrong; without an argument nothing does. */
  bring(fault?: ChooseFault): void;
  /** All symbols of a category the most traded ones first. */
  symbols(category: Category): readonly string[];
  /** From now on these credentials are accepted and no others. */
  setCredentials(credentials: readonly AppSecrets[]): void;
  /** Ends open connections too, and may be called again. */
  close(): Promise<void>;
}

/** Known to the catalogue, and answered with 404 by the live upstream. */
const unroutedLive = ['getStockBars'];

/** Listens on 127.0.0.1 only; a taken port rejects with the original `EADDRINUSE` error. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock = Date.now, unrouted = unroutedLive } = options;
  const world = createWorld(options.seed ?? 1, options);
  const credentials = new Map<string, string>();
  const setCredentials = (list: readonly AppSecrets[]) => {
    credentials.clear();
    for (const { appKey, appSecret } of list) credentials.set(appKey, appSecret);
  };
  setCredentials([options]);
  const upstream: SimulatedUpstream = {
    routes: routesOf(
      (options.operations ?? operations).filter(
        ({ id, answeredBy }) => !answeredBy && !unrouted.includes(id),
      ),
    ),
    credentials,
    foreignKeys: new Set(options.foreignKeys),
    accessToken: options.accessToken,
    toleranceSeconds: options.toleranceSeconds ?? 300,
    nonces: new NonceMemory(),
    counters: new RequestCounters(options),
    hasOtherForms: options.forms === 'other',
    world,
  };
  const received = new ReceivedLog();
  let fault = options.fault;
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
  };
  const open = async <T extends { close(): Promise<void> }>(start: Promise<T>): Promise<T> => {
    const server = await start.catch(async (error: unknown) => {
      await close();
      throw error;
    });
    opened.push(server);
    return server;
  };
  const events = await open(startEvents(upstream, clock, options.events ?? {}));
  const marketStream =
    options.marketStream && (await open(startMarketStream(upstream, clock, options.marketStream)));
  const { port = 0 } = options;
  const server = await open(serve({ port, clock, fault: (request) => fault?.(request), upstream, received }));
  const trading = createExchange(world.orders, events.changes, clock);
  trading.showAfter(options.showAfterMs ?? 0);
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    received: received.requests,
    get counts() {
      return received.counts;
    },
    counted: (limit) => upstream.counters.counted(limit, clock()),
    get orders() {
      return world.orders.all;
    },
    accounts: world.accounts,
    trading,
    events,
    marketStream,
    bring: (next) => {
      fault = next;
    },
    symbols: (category) =>
      [...world.universe.values()].filter((one) => one.category === category).map((one) => one.symbol),
    setCredentials,
    close,
  };
}
