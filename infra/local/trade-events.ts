/**
 * The listener of trade events in this process: the core and the transport that are deployed, over a store and a bus in
 * memory. It starts beside the run, ends with it, and no timer of it keeps the process alive.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { CorsOrigins } from '../../functions/aws/cors.ts';
import { createGrpcTransport } from '../../functions/aws/grpc-transport.ts';
import type { KeyedNames } from '../../lib/access/directory.ts';
import { replySource } from '../../lib/events/names.ts';
import type { AccessOptions } from '../../lib/gateway/access-options.ts';
import type { Gateway } from '../../lib/gateway/index.ts';
import {
  createGatewayOrderReads,
  createMemoryTradeEventStore,
  createTradeEventListener,
  type StreamCredential,
  type TradeEventReport,
} from '../../lib/trade-events/index.ts';
import { type BusEvent, createLocalBus, type LocalBus } from './bus.ts';
import { createEventHistory } from './event-history.ts';
import { createEventStream } from './event-stream.ts';
import type { LocalStream } from './options.ts';

export interface TradeEventHooks {
  readonly tradeEvent?: (event: BusEvent) => void;
  /** What the listener of trade events says of itself. */
  readonly tradeEventReport?: (report: TradeEventReport) => void;
  readonly defect?: (error: unknown, requestId: string) => void;
}

export interface LocalTradeEventsOptions {
  /** Of the event service. */
  readonly url: string;
  readonly credential: StreamCredential;
  /** Reads orders as the holder of the app key. */
  readonly orders: Pick<Gateway, 'ask'>;
  /** Of the run's identity key. */
  readonly names: KeyedNames;
  /** Who may follow which events. */
  readonly access: AccessOptions;
  readonly corsOrigins?: CorsOrigins | undefined;
  readonly hooks?: TradeEventHooks;
}

export interface LocalTradeEvents {
  /** Of its own, as in a deployment: nothing that others put on a bus is a trade event. */
  readonly bus: LocalBus;
  readonly stream: LocalStream;
  /** Resolves when the upstream's stream is closed. */
  close(): Promise<void>;
}

export const eventStreamPath = '/_events/stream';

/** Nothing succeeds it here, so that it has no hand-over to make. */
const listenMs = 24 * 3_600_000;
/** As the schedule of a deployment. */
const startEveryMs = 60_000;
/** What is under way then is given up: the run's memory ends with it. */
const closeMs = 2_000;

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { ref: false, ...(signal && { signal }) });

/**
 * @example
 * const events = startTradeEvents({ url: 'http://127.0.0.1:8789', credential, orders, names, access });
 * await events.close();
 */
export function startTradeEvents(options: LocalTradeEventsOptions): LocalTradeEvents {
  const { access, corsOrigins, hooks = {} } = options;
  const bus = createLocalBus({ onFailure: (error) => hooks.defect?.(error, 'trade events') });
  if (hooks.tradeEvent) bus.subscribe(hooks.tradeEvent);
  const history = createEventHistory(bus);
  const stream = createEventStream({ path: eventStreamPath, history, access, corsOrigins });
  const ending = new AbortController();
  const listening = listen(options, bus, ending.signal);
  return {
    bus,
    stream,
    async close() {
      ending.abort();
      await Promise.race([listening, sleep(closeMs)]);
      history.close();
    },
  };
}

/** Starts the listener again whenever it ends, as a schedule does. */
async function listen(options: LocalTradeEventsOptions, bus: LocalBus, signal: AbortSignal): Promise<void> {
  const { url, credential, orders, names, hooks = {} } = options;
  const listener = createTradeEventListener({
    transport: createGrpcTransport({ url }),
    orders: createGatewayOrderReads({ gateway: orders, sleep }),
    store: createMemoryTradeEventStore(),
    bus: {
      async publish(events) {
        bus.publish(...events.map((event) => ({ ...event, source: replySource })));
        return events.map(() => true);
      },
    },
    names,
    readCredential: async () => credential,
    sleep,
    ...(hooks.tradeEventReport && { report: hooks.tradeEventReport }),
  });
  while (!signal.aborted) {
    const result = await listener.run({ until: Date.now() + listenMs, signal }).then(
      (report) => report.result,
      (error: unknown) => void hooks.defect?.(error, 'trade events'),
    );
    if (result !== 'listened') await sleep(startEveryMs, signal).catch(() => {});
  }
}
