/**
 * Strict simulated upstream, the package's entry `countersign/simulator`: an HTTP server on this machine that verifies every
 * request's signature with its own code, keeps the interface's rules and answers from an invented, repeatable market.
 */

import type { LimitName, Operation, UpstreamLimits } from '../../lib/catalogue/index.ts';
import { operations, routesOf } from '../../lib/catalogue/index.ts';
import { type EventOptions, type SimulatedEvents, startEvents } from './events/index.ts';
import type { ChooseFault } from './faults.ts';
import type { SimulatedUpstream } from './handle.ts';
import type { Category } from './market/instrument.ts';
import type { MarketHours } from './market/sessions.ts';
import type { MarketStreamOptions, SimulatedMarketStream, startMarketStream } from './market-stream/index.ts';
import { NonceMemory } from './nonces.ts';
import { observed } from './observed.ts';
import { type ReceivedHeaders, ReceivedLog } from './received.ts';
import { RequestCounters, type Window } from './request-counters.ts';
import { serve } from './server.ts';
import { createExchange, type Exchange } from './trading/exchange.ts';
import type { StoredOrder } from './trading/stored-order.ts';
import { createWorld, type Deposits, type Holder, type Product } from './world.ts';

export { faultsByChance, loseFirstAnswers } from './chance.ts';
export type { EventFault, OddEvent } from './events/index.ts';
export type { ApiFault, ChooseFault, FaultRequest } from './faults.ts';
export type { MarketHours } from './market/sessions.ts';
export type { MarketStreamFault, OddMessage, PushedMessage } from './market-stream/index.ts';
export type { ReceivedHeaders } from './received.ts';
export type { LoggedChange } from './trading/change-log.ts';
export type { StoredOrder } from './trading/stored-order.ts';
export type { Deposits, Holder } from './world.ts';

interface AppSecrets {
  readonly appKey: string;
  readonly appSecret: string;
}

/** Credentials of a test that brings none. */
const usualSecrets: AppSecrets = { appKey: 'simulated-app-key', appSecret: 'simulated-app-secret' };

export interface SimulatorOptions extends Partial<AppSecrets> {
  /** Port; 0, the default, takes any free one. */
  readonly port?: number;
  /** App keys of the other environment: requests with one of them find no path. */
  readonly foreignKeys?: readonly string[];
  /**
   * Ids of operations that the upstream does not route. Absent: those that answered 404 live, which is the query form of
   * stock bars, `getStockBars`.
   */
  readonly unrouted?: readonly string[];
  /** Token that x-access-token must have, if set; one that was issued and approved counts, too. */
  readonly accessToken?: string;
  /**
   * Milliseconds that a new token waits for its owner's approval; 3000 when absent. A token that waits for more than five
   * minutes is never approved.
   */
  readonly tokenApprovalMs?: number;
  /** Whether a token lives longer for being used; true when absent, as was seen. */
  readonly tokenUseProlongs?: boolean;
  /** Market data that the user has not subscribed to; none when absent. */
  readonly unsubscribed?: readonly Product[];
  /** Price levels of the book that the user may request; 50, level 2, when absent. */
  readonly depthLevels?: number;
  /** Another seed is another market; 1 when absent. */
  readonly seed?: number;
  /** Returns Unix time in milliseconds; the machine's clock when absent. */
  readonly clock?: () => number;
  /** Money on each account; see `Deposits`. */
  readonly deposits?: Partial<Deposits>;
  /** Real hours of the market in New York, by the clock, when absent; or a market that stays `open` or `closed`. */
  readonly marketHours?: MarketHours;
  /** Seconds that x-timestamp may differ from the clock in either direction; 300 when absent. */
  readonly toleranceSeconds?: number;
  /** Figures that replace those of the catalogue's request limits. */
  readonly limits?: Partial<Record<LimitName, Window>>;
  /** Limits for each endpoint besides: a preset, or figures by kind. Default `interface`, which has none. */
  readonly upstreamLimits?: UpstreamLimits;
  /** Chooses a fault for every request that arrives. */
  readonly fault?: ChooseFault;
  /** Milliseconds for which no read shows a placed order; 0 when absent. See `Exchange.showAfter`. */
  readonly showAfterMs?: number | undefined;
  /** The event stream: its port, pings and connection limit. */
  readonly events?: EventOptions;
  /** Port, certificate, limits and intervals of the market-data stream. Absent: no stream and no sessions. */
  readonly marketStream?: MarketStreamOptions;
  /**
   * `other` sends the less usual form of a member wherever sources disagree on it, such as a time in milliseconds or as
   * text.
   */
  readonly forms?: 'other';
  /** Operations in place of the catalogue's. */
  readonly operations?: readonly Operation[];
}

export interface Simulator extends AppSecrets {
  /** `http://127.0.0.1:` and the port. */
  readonly url: string;
  readonly port: number;
  /** The last 10 000 requests, oldest first. */
  readonly received: readonly ReceivedHeaders[];
  /** Number of requests with each outcome since the start; see `ReceivedHeaders.outcome`. */
  readonly counts: Readonly<Record<string, number>>;
  /** Arrival times, in Unix milliseconds, of the requests that count against the limit now. */
  counted(limit: LimitName): readonly number[];
  /** Every order that a request placed, oldest first. */
  readonly orders: readonly StoredOrder[];
  readonly accounts: readonly Holder[];
  /** Record of what happened to orders, with controls for tests to change them. */
  readonly trading: Exchange;
  /** The event stream, `127.0.0.1` and its port, in plaintext. */
  readonly events: SimulatedEvents;
  /** Market-data stream, if the options ask for it. */
  readonly marketStream: SimulatedMarketStream | undefined;
  /** Chooses the faults from now on; without an argument there are none. */
  bring(fault?: ChooseFault): void;
  /** Lists all symbols of a category, the most traded ones first. */
  symbols(category: Category): readonly string[];
  /** Accepts these credentials from now on, and no others. */
  setCredentials(credentials: readonly AppSecrets[]): void;
  /** Closes the server and its open connections; may be called again. */
  close(): Promise<void>;
}

/**
 * Listens on 127.0.0.1 only; a port in use rejects with the original `EADDRINUSE` error.
 *
 * @example
 * const upstream = await startSimulator();
 * const signedFetch = createSignedFetch({ signer: createSigner(upstream) });
 * const accounts = await signedFetch(`${upstream.url}/trading/accounts/list`);
 * await upstream.close();
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { clock = Date.now, unrouted = observed.unroutedBars.operations } = options;
  const { appKey, appSecret } = { ...usualSecrets, ...options };
  const world = createWorld(options.seed ?? 1, options);
  const credentials = new Map<string, string>();
  const setCredentials = (list: readonly AppSecrets[]) => {
    credentials.clear();
    for (const { appKey, appSecret } of list) credentials.set(appKey, appSecret);
  };
  setCredentials([{ appKey, appSecret }]);
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
    options.marketStream && (await open(openMarketStream(upstream, clock, options.marketStream)));
  const { port = 0 } = options;
  const server = await open(serve({ port, clock, fault: (request) => fault?.(request), upstream, received }));
  const trading = createExchange(world.orders, events.changes, clock);
  trading.showAfter(options.showAfterMs ?? 0);
  return {
    appKey,
    appSecret,
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

/** Loads the market-data stream when it is wanted, because it alone needs `ws` and `mqtt-packet`. */
const openMarketStream: typeof startMarketStream = async (...given) =>
  (await import('./market-stream/index.ts')).startMarketStream(...given);
