/**
 * A deployment as a scenario sees it: an API, workers that something starts, an operator, and the upstream. The scenarios
 * are the same for every set of ports; here functions and workers run in this process.
 */

import assert from 'node:assert/strict';
import type * as functions from '../../functions/compose/functions.ts';
import type { Offer } from '../../functions/compose/group.ts';
import type * as offerings from '../../functions/compose/offers.ts';
import type { ComposedAudit } from '../../functions/compose/order-audit.ts';
import type * as orderOfferings from '../../functions/compose/order-offers.ts';
import type { Host, LookupPorts } from '../../functions/compose/ports.ts';
import type { ListenerContext, WorkerHandler } from '../../functions/compose/start.ts';
import type { StreamHandler } from '../../functions/compose/stream-handler.ts';
import type { startWorker } from '../../functions/compositions.ts';
import type { ProxyEvent } from '../../functions/events/rest-proxy.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { functionOf, type WorkerName, workerRows } from '../../functions/rows.ts';
import { writePart } from '../../functions/settings/parts.ts';
import type { MemoryPorts, PlatformNames } from '../../infra/local/memory-ports.ts';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createIdentity, type Identity } from '../../lib/access/identity.ts';
import type { AccessStore } from '../../lib/access/store.ts';
import { findRoute, operations, routesOf } from '../../lib/catalogue/index.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { scopes } from '../../lib/catalogue/scopes.ts';
import { confirmTables, createControlAdmin } from '../../lib/guard-rails/admin.ts';
import type { CheckpointTable } from '../../lib/guard-rails/checkpoints.ts';
import type { ControlAdmin } from '../../lib/guard-rails/index.ts';
import type { TradingLimits } from '../../lib/guard-rails/limits.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import type { MassCancelReport } from '../../lib/orders/mass-cancel.ts';
import type { SettlementReport } from '../../lib/orders/settle.ts';
import type { Ordered } from '../../lib/orders/who-ordered-what.ts';
import { tradeEventNames } from '../../lib/trade-events/index.ts';
import { credentials, secretText } from '../support/core.ts';
import { part } from '../support/parts.ts';

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Scene {
  /** False where no function keeps what streams of order events tell. Default true. */
  readonly tellsOrders?: false;
  readonly simulator: Simulator;
  /** As a caller who may do everything; POST with a body. */
  ask(target: string, body?: object): Promise<Reply>;
  /** Starts a worker as its schedule does, or with an event. */
  work(name: WorkerName, event?: object): Promise<unknown>;
  /** Workers that were started; undefined where they start by themselves. */
  readonly worked?: ReadonlySet<WorkerName>;
  settle(): Promise<SettlementReport>;
  /** What a trade event starts. */
  settleBy(order: object): Promise<void>;
  cancelOpen(): Promise<MassCancelReport>;
  /** Has the listener of trade events run until it is so. */
  listen(isSo: () => Promise<boolean>): Promise<void>;
  /** Has the listener of the market stream run until it is so; absent where none is deployed. */
  carry?(isSo: () => Promise<boolean>): Promise<void>;
  /** A lookup on the bus. @returns the reply's detail */
  lookUp(detailType: string, detail: object, source?: string): Promise<Readonly<Record<string, unknown>>>;
  /** CloudWatch tells the trading stop of an alarm. */
  alarm(): Promise<void>;
  readonly operator: Pick<ControlAdmin, 'apply'>;
  /** Keeps a table as it is now. @returns what restores it */
  copyOf(table: CheckpointTable): Promise<() => Promise<void>>;
  /** The operator takes restored tables as they are. */
  confirm(tables: readonly CheckpointTable[]): Promise<void>;
  /** Who ordered what. */
  audited(): Promise<readonly Ordered[]>;
  /** What a stream tells, or with what it is refused, until it is so; to a caller who has missed all that is kept. */
  follow(target: string, isSo: (told: string) => boolean, who?: 'stranger'): Promise<string>;
  /** What is on the buses of trade events and of orders. */
  published(busName: string): Promise<readonly Published[]>;
  /**
   * Time stands still from now on, so that nothing ages while a busy machine is slow.
   *
   * @returns false where it cannot
   */
  hold(): boolean;
  /** Time passes; what functions know of a stop is read again. */
  pass(ms: number): Promise<void>;
  readonly logged: readonly LogEntry[];
  close(): Promise<void>;
}

export interface Published {
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What a platform is to a scene. */
export interface Platform {
  readonly ports: MemoryPorts & LookupPorts;
  readonly access: AccessStore;
  /** All that was composed is there. */
  ready(): Promise<void>;
  /** What the stream of the journal's table brings is taken to the audit. */
  follow(audit: ComposedAudit | undefined): void;
  audited(): Promise<readonly Ordered[]>;
  /** What a bus has so far: `detail-type` and detail. */
  published(busName: string): Promise<readonly Published[]>;
  /** Keeps a table as it is now. @returns what restores it */
  copyOf(table: CheckpointTable): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The compositions that are judged: as they are, or with a wiring changed. */
export type Compositions = typeof functions & {
  readonly offers: typeof offerings & typeof orderOfferings;
  readonly startWorker: typeof startWorker;
};

export const platformNames: PlatformNames = {
  limiter: 'the-limiter',
  cache: 'the-cache',
  access: 'the-users',
  journal: 'the-journal',
  audit: 'the-audit',
  controls: 'the-controls',
  lookups: 'the-lookups',
  events: 'the-trade-events',
  history: 'the-trade-event-history',
  lookupBus: 'bus-of-lookups',
  eventsBus: 'bus-of-trade-events',
  ordersBus: 'bus-of-orders',
};
export const secretIds = { app: 'the-app-secret', identityKey: 'the-identity-key' };
export const identityKey = 'identity key of the compositions, long enough';
export const secrets = { [secretIds.app]: secretText(credentials), [secretIds.identityKey]: identityKey };

export const callerArn = 'arn:aws:iam::000000000000:role/caller';
/** A lookup of account data is for a source that has been granted something. */
export const requester = 'reports';

/** The variables that the stack gives its functions. */
export const environmentFor = (
  { url, events, marketStream }: Pick<Simulator, 'url' | 'events' | 'marketStream'>,
  limits: TradingLimits,
  share = 1,
): Readonly<Record<string, string>> => ({
  ...part('UPSTREAM', { baseUrl: url, secretId: secretIds.app }),
  ...part('LIMITER', { tableName: platformNames.limiter, share }),
  ...part('CACHE', { tableName: platformNames.cache, hasMarketStream: marketStream !== undefined }),
  ...part('ACCESS', { tableName: platformNames.access, identityKeySecretId: secretIds.identityKey }),
  ...writePart('IDENTITY', { identityKeySecretId: secretIds.identityKey }),
  ...writePart('JOURNAL', { tableName: platformNames.journal }),
  ...writePart('ORDER_AUDIT', { tableName: platformNames.audit, busName: platformNames.ordersBus }),
  ...writePart('SETTLEMENT', {
    journalTable: platformNames.journal,
    auditTable: platformNames.audit,
    controlsTable: platformNames.controls,
    usersTable: platformNames.access,
  }),
  ...writePart('MASS_CANCELS', { controlsTable: platformNames.controls }),
  ...writePart('LAST_PRICES', { tableName: platformNames.cache }),
  ...part('TRADING', { tableName: platformNames.controls, limits }),
  ...writePart('TRADING_STOP', { tableName: platformNames.controls, cancelOpen: true }),
  ...part('TRADE_EVENTS', {
    url: `http://127.0.0.1:${events.port}`,
    tableName: platformNames.events,
    busName: platformNames.eventsBus,
  }),
  ...writePart('EVENT_HISTORY', { tableName: platformNames.history }),
  ...part('LIVE', { maxStreams: 5 }),
  ...(marketStream && part('MARKET_STREAM', { url: marketStream.url, tableName: platformNames.cache })),
  ...part('LOOKUPS', {
    groups: ['market-data', 'instruments', 'orders'],
    queues: {
      tableName: platformNames.lookups,
      busName: platformNames.lookupBus,
      queueUrl: 'http://127.0.0.1:9/queue',
      busQueueUrl: 'http://127.0.0.1:9/bus-queue',
      deadLetterUrl: 'http://127.0.0.1:9/dead-letters',
    },
  }),
});

export interface SceneOptions {
  readonly platform: (host: Host) => Promise<Platform>;
  readonly compositions: Compositions;
  /** Of trading. */
  readonly limits: TradingLimits;
  /** Of the upstream's limit. */
  readonly share?: number;
}

export async function startScene({ platform, compositions, limits, share }: SceneOptions): Promise<Scene> {
  let shift = 0;
  let held: number | undefined;
  const clock = () => (held ?? Date.now()) + shift;
  const simulator = await startSimulator({ ...credentials, clock, events: {}, marketStream: {} });
  const logged: LogEntry[] = [];
  const host: Host = {
    functionName: 'a-function',
    log: (entry) => void logged.push(entry),
    clock,
    // A pause is time that passes for all, in whole milliseconds: pauses are spread at random, clocks are not.
    async sleep(ms, signal) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      signal?.throwIfAborted();
      shift += Math.ceil(ms);
    },
  };
  const { ports, ...own } = await platform(host);
  const portsOf = (functionName: string) => ({ ...ports, functionName });
  const { offers, start, group, lookups, orderAudit, orderStreams, quoteStreams } = compositions;
  const env = environmentFor(simulator, limits, share);
  const identity = createIdentity(async () => identityKey);
  await grantAll(own.access, identity);
  // Two instances of each, which requests meet in turn: what they share is in stores alone.
  const twice = (offer: () => Offer<MemoryPorts>, variables = env) =>
    [0, 1].map(() => start(group(offer()), variables, portsOf(offer.name)));
  const handlers = {
    'market-data': twice(offers.marketData, openOnly(env)),
    instruments: twice(offers.instruments, openOnly(env)),
    orders: twice(offers.orders),
    'order-cancels': twice(offers.orderCancels),
    'order-reads': twice(offers.orderReads),
  };
  const worked = new Set<WorkerName>();
  const started = new Map<WorkerName, WorkerHandler>();
  function workerOf(name: WorkerName): WorkerHandler {
    worked.add(name);
    // A listener waits for what comes over a socket.
    const own = { ...portsOf(name), ...(workerRows[name].listens && { sleep }) };
    const handler = started.get(name) ?? compositions.startWorker(name, env, own);
    assert.ok(handler, name);
    started.set(name, handler);
    return handler;
  }
  const work: Scene['work'] = (name, event = {}) => workerOf(name)(event, within(60_000));
  const streams = streamsOf(
    start(orderStreams, env, { ...portsOf('order-streams'), sleep }),
    start(quoteStreams, openOnly(env), { ...portsOf('quote-streams'), sleep }),
  );
  own.follow(start(orderAudit, env, portsOf('order-audit')));
  const lookUp = start(lookups(operations), env, portsOf('lookups'));
  const operator = createControlAdmin({
    store: ports.controlAdmin(platformNames.controls),
    identity,
    by: 'operator',
    clock,
  });
  await own.ready();
  return {
    simulator,
    logged,
    async ask(target, body) {
      const [path = '', query] = target.split('?');
      const route = findRoute(routesOf(operations), body ? 'POST' : 'GET', path);
      assert.ok(route.kind === 'route', target);
      const instances = handlers[functionOf(route.route.operation) as keyof typeof handlers];
      const reply = await instances[++requests % 2]!(proxyEvent(path, query, body), within(20_000));
      const bytes = Buffer.from(reply.body, reply.isBase64Encoded ? 'base64' : 'utf8');
      return { status: reply.statusCode, text: bytes.toString(), headers: reply.headers ?? {} };
    },
    work,
    worked,
    settle: async () => (await work('order-settlement')) as SettlementReport,
    settleBy: async (detail) =>
      void (await work('order-settlement', { 'detail-type': tradeEventNames.order, detail })),
    cancelOpen: async () => (await work('mass-cancels')) as MassCancelReport,
    listen: (isSo) => runUntil(workerOf('trade-events'), isSo),
    carry: (isSo) => runUntil(workerOf('market-stream'), isSo),
    async lookUp(detailType, detail, source = requester) {
      worked.add('quote-lookup');
      await lookUp({ Records: [messageOf(detailType, detail, source)] }, within(25_000));
      const { request_id: id } = detail as { readonly request_id?: unknown };
      const replies = await own.published(platformNames.lookupBus);
      const reply = replies.find((one) => one.detail.request_id === id);
      assert.ok(reply, 'no reply on the bus of lookups');
      return reply.detail;
    },
    follow: streams,
    alarm: async () => void (await work('trading-stop', alarmEvent)),
    operator,
    copyOf: own.copyOf,
    confirm: async (taken) => {
      const { journal, controls, access: users } = platformNames;
      const tables = { journal, controls, users };
      await confirmTables(
        { admin: operator, checkpoints: ports.checkpoints(tables), tables, clock },
        taken,
        'scenario',
      );
    },
    audited() {
      worked.add('order-audit');
      return own.audited();
    },
    published: own.published,
    hold() {
      held = Date.now();
      return true;
    },
    async pass(ms) {
      shift += ms;
    },
    async close() {
      await own.close();
      await simulator.close();
    },
  };
}

/** Of a listener, which runs for a quarter of an hour otherwise. */
async function runUntil(
  listener: (event: unknown, context: ListenerContext) => Promise<unknown>,
  isSo: () => Promise<boolean>,
): Promise<void> {
  const ending = new AbortController();
  const run = listener({}, { ...within(60_000), ending: ending.signal });
  for (let look = 0; look < 2000 && !(await isSo()); look++) await sleep(10);
  ending.abort();
  await run;
}

/** Functions of market facts have no users. */
export const openOnly = ({ ACCESS: _, ...env }: Readonly<Record<string, string>>) => env;

async function grantAll(store: AccessStore, identity: Identity): Promise<void> {
  const admin = createAccessAdmin({ store, identity, by: 'operator' });
  for (const subject of [
    { kind: 'iam', arn: callerArn } as const,
    { kind: 'source', name: requester } as const,
  ])
    await admin.apply({ action: 'grant', subject, accounts: ['*'], userData: true, scopes });
}

/** Streams of functions that run in this process, for one who has been granted everything. */
export const streamsOf =
  (orders: StreamHandler, quotes: StreamHandler, granted = callerArn): Scene['follow'] =>
  async (target, isSo, who) => {
    const [path = '', query] = target.split('?');
    const handler = path === streamOrderEvents.path ? orders : quotes;
    const event = proxyEvent(path, query, undefined, who ? `${granted}-${who}` : granted);
    let told = '';
    const sink = {
      destroyed: false,
      writableEnded: false,
      writableNeedDrain: false,
      write: (text: string | Uint8Array) => {
        told += typeof text === 'string' ? text : Buffer.from(text).toString();
        sink.destroyed = isSo(told);
        return true;
      },
      end: () => {},
      destroy: () => {},
      once: () => {},
      off: () => {},
    };
    await handler({ ...event, headers: { 'last-event-id': 'all' } }, within(20_000), () => sink);
    return told;
  };

let requests = 0;

export function proxyEvent(
  resource: string,
  query: string | undefined,
  body: object | undefined,
  userArn = callerArn,
): ProxyEvent {
  const names: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(query)) names[name] = [...(names[name] ?? []), value];
  return {
    resource,
    httpMethod: body ? 'POST' : 'GET',
    headers: body ? { 'content-type': 'application/json' } : {},
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: names,
    body: body ? JSON.stringify(body) : null,
    isBase64Encoded: false,
    requestContext: { requestId: `request-${++requests}`, identity: { userArn } },
  };
}

/** An event of the bus in its queue. */
const messageOf = (detailType: string, detail: object, source: string) => ({
  messageId: `message-${++requests}`,
  receiptHandle: 'receipt',
  body: JSON.stringify({ id: `event-${requests}`, source, 'detail-type': detailType, detail }),
  attributes: { SentTimestamp: String(Date.now()), ApproximateReceiveCount: '1' },
  messageAttributes: {},
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:bus-queue',
});

export const within = (ms: number) => {
  const endAt = Date.now() + ms;
  return { getRemainingTimeInMillis: () => endAt - Date.now() };
};

export const alarmEvent = {
  source: 'aws.cloudwatch',
  'detail-type': 'CloudWatch Alarm State Change',
  detail: { alarmName: 'drawdown', state: { value: 'ALARM', reason: 'Threshold crossed' } },
};
