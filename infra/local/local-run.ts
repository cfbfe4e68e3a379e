/** The whole product on this machine: local API Gateway → the deployed handlers → an upstream. */

import { randomBytes } from 'node:crypto';
import type { Log, LogEntry } from '../../functions/log/log.ts';
import { createIdentity, type Identity } from '../../lib/access/identity.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import {
  exposedOperations,
  findRoute,
  type Group,
  getStockSnapshots,
  limits,
  operations,
  planOfTier,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { otherMethod, unknownPath } from '../../lib/gateway/admit.ts';
import { refusalResponse, type Send } from '../../lib/gateway/index.ts';
import { notSent, refusalKinds } from '../../lib/problem.ts';
import { localMode } from '../access-modes.ts';
import { defined } from '../defined.ts';
import { listening } from '../environment.ts';
import { documentIn, referenceOf } from '../open-api/document-form.ts';
import { type Simulator, startSimulator } from '../simulator/index.ts';
import {
  type AccessLogEntry,
  type ApiGatewayOptions,
  type ApiKey,
  type LocalApiGateway,
  type LocalRoute,
  type LocalStream,
  type Refuse,
  startApiGateway,
} from './api-gateway.ts';
import type { BusEvent, LocalBus } from './bus.ts';
import { type EnvironmentParts, localEnvironment, names } from './environment.ts';
import { createEventsEndpoint } from './events-endpoint.ts';
import { type FunctionParts, groupRoutes, type LocalLookups, startLookups } from './functions.ts';
import { createIssuer } from './issuer.ts';
import { createMemoryPlatform, type MemoryPlatform } from './memory-ports.ts';
import { createOutages, type Outages } from './outages.ts';
import { constantPages, createPages } from './pages.ts';
import { createQuoteOrigins, type QuoteOrigins } from './quote-origins.ts';
import { createRequestLog, masking, type RequestLog, type SeenRequest } from './request-log.ts';
import { createAsked, createRunRoutes } from './run-routes.ts';
import type { LocalSettings } from './settings.ts';
import { createEventStream, createQuoteStream } from './streams.ts';
import { createTradingRoutes } from './trading.ts';
import { grantUsers, type LocalUser, usersOf } from './users.ts';
import { sleepUnref, startOrderAudit, startWorkers } from './workers.ts';

export interface LocalRun {
  readonly url: string;
  readonly upstreamUrl: string;
  /** Present unless another upstream was configured. */
  readonly simulator?: Simulator;
  /** Of the tokens, `http://127.0.0.1:PORT/issuer`. */
  readonly issuer: string;
  /** The first one has the API key. */
  readonly users: readonly LocalUser[];
  /** Of lookups by event. */
  readonly bus: LocalBus;
  /** Of trade events; absent where no listener runs. */
  readonly tradeEvents?: LocalBus;
  close(): Promise<void>;
}

interface LocalRunHooks {
  readonly access?: (entry: SeenRequest) => void;
  /** Told when the upstream stops answering, when quotes grow stale, and when either is over. */
  readonly outage?: (sentence: string) => void;
  /** What the functions log. */
  readonly log?: Log;
  readonly tradeEvent?: (event: BusEvent) => void;
  readonly defect?: (error: unknown, requestId: string) => void;
}

const everyRoute = routesOf(operations);

/** API Gateway's own text names no path, because one text stands for all; here a person reads it. */
function elsewhere(path: string, openRoutes: ReturnType<typeof routesOf>) {
  const { detail = refusalKinds.unknown_operation.detail } = unknownPath(openRoutes, path);
  return { detail: `${detail} /docs shows all that are.` };
}

function refuseIn({ openGroups }: LocalSettings): Refuse {
  const openRoutes = routesOf(exposedOperations(operations, openGroups));
  return (code, { requestId, method, path, allow, retryAfterSeconds, detail }) => {
    const match = findRoute(everyRoute, method, path);
    const sideEffect = match.kind === 'route' ? match.route.operation.sideEffect : undefined;
    const mayHaveBeenSent = code === 'gateway_timeout' || code === 'gateway_error';
    const { status, headers, body } = refusalResponse(
      {
        code,
        ...(code === 'unknown_operation' && elsewhere(path, openRoutes)),
        ...(allow && otherMethod(allow)),
        ...(detail !== undefined && { detail: `${detail} ${notSent}` }),
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        ...(mayHaveBeenSent && sideEffect && { findOut: sideEffect.findOut }),
      },
      requestId,
    );
    return { status, headers, body: new TextDecoder().decode(body) };
  };
}

/** @throws StartError when a port is taken */
export async function startLocalRun(settings: LocalSettings, hooks: LocalRunHooks = {}): Promise<LocalRun> {
  const simulator = await startUpstream(settings);
  const { upstream } = settings;
  const upstreamUrl = 'baseUrl' in upstream ? upstream.baseUrl : (simulator as Simulator).url;
  const { users = usersOf(simulator?.accounts) } = settings;
  const log = createRequestLog({ mask: masking(() => hiddenOf(settings, simulator, users)) });
  const outages = createOutages(hooks.outage ?? (() => {}));
  const heard = withLog(hooks, log, outages);
  const sending = (send: Send) => log.sending(outages.sending(send));
  const deployment = deploy(settings, heard, sending, {
    upstreamBaseUrl: upstreamUrl,
    eventsUrl: eventServiceOf(settings, simulator),
    marketStreamUrl: settings.marketStreamUrl ?? simulator?.marketStream?.url,
    issuer: () => `${api.url}${issuerPath}`,
  });
  const { identity, platform, close } = deployment;
  let api: LocalApiGateway;
  try {
    api = await listening(
      startApiGateway(
        await apiOf(deployment, settings, heard, { users, simulator, log, url: () => api.url }),
      ),
      { PORT: settings.port },
    );
  } catch (error) {
    await close();
    await simulator?.close();
    throw error;
  }
  const issuer = `${api.url}${issuerPath}`;
  await grantUsers(platform.access(names.access), { users, apiKeyId: keyOfFirstUser, issuer, identity });
  deployment.granted();
  return {
    url: api.url,
    upstreamUrl,
    issuer,
    users,
    bus: platform.bus(names.lookupBus),
    ...(deployment.tradeEvents && { tradeEvents: deployment.tradeEvents }),
    ...(simulator && { simulator }),
    async close() {
      await close();
      await api.close();
      deployment.lookups?.close();
      await simulator?.close();
    },
  };
}

/** What no line and no page shows. */
const hiddenOf = (
  { credentials, accessToken, apiKey, otherApiKeys = [] }: LocalSettings,
  simulator: Simulator | undefined,
  users: readonly LocalUser[],
): readonly string[] => [
  credentials.appKey,
  credentials.appSecret,
  ...(accessToken === undefined ? [] : [accessToken]),
  // One that came in the query, where it does not belong.
  apiKey,
  ...otherApiKeys,
  ...(simulator?.accounts ?? []).map(({ account_id }) => account_id),
  ...users.flatMap(({ accounts }) => accounts),
];

/** The hooks of the functions and of the local API Gateway, of which those who watch hear first. */
const withLog = (hooks: LocalRunHooks, log: RequestLog, outages: Outages) => ({
  ...hooks,
  access: (entry: AccessLogEntry, query: string) => {
    const seen = log.access(entry, query);
    hooks.access?.(seen);
  },
  log(entry: LogEntry) {
    log.report(entry);
    outages.report(entry);
    hooks.log?.(entry);
  },
});

type Hooks = ReturnType<typeof withLog>;

/** @returns undefined where another upstream is configured */
async function startUpstream({
  port,
  upstream,
  credentials,
  upstreamLimits,
  marketDataLimit = limits['market-data'],
  faults,
}: LocalSettings): Promise<Simulator | undefined> {
  if (!('simulatorPort' in upstream)) return undefined;
  const { simulatorPort, eventsPort = 0, marketStreamPort } = upstream;
  return listening(
    startSimulator({
      ...credentials,
      port: simulatorPort,
      events: { port: eventsPort },
      ...(marketStreamPort !== undefined && { marketStream: { port: marketStreamPort } }),
      limits: { 'market-data': marketDataLimit },
      ...(upstreamLimits && { upstreamLimits }),
      ...faults,
    }),
    {
      PORT: port,
      UPSTREAM_PORT: simulatorPort,
      EVENTS_PORT: eventsPort,
      MARKET_STREAM_PORT: marketStreamPort ?? 0,
    },
  );
}

/** Functions and workers, with what they share. */
interface LocalDeployment {
  readonly platform: MemoryPlatform;
  readonly identity: Identity;
  /** Of records that streams tell. */
  readonly origins: QuoteOrigins;
  /** The users' grants are written: what asks for them waits until then. */
  granted(): void;
  readonly routes: readonly LocalRoute[];
  readonly lookups: LocalLookups | undefined;
  readonly streams: readonly LocalStream[];
  /** Absent where no listener runs. */
  readonly tradeEvents: LocalBus | undefined;
  /** Ends the workers. */
  close(): Promise<void>;
}

interface DeploymentParts extends Omit<EnvironmentParts, 'issuer'> {
  /** Known when the run listens. */
  readonly issuer: () => string;
}

function deploy(
  settings: LocalSettings,
  hooks: Hooks,
  sending: (send: Send) => Send,
  { issuer, ...urls }: DeploymentParts,
): LocalDeployment {
  const { credentials, accessToken, openGroups } = settings;
  const { appKey, appSecret } = credentials;
  const identityKey = randomBytes(32).toString('base64url');
  const failed = (error: unknown, what: string) => hooks.defect?.(error, what);
  const plain = createMemoryPlatform({
    functionName: 'local',
    log: hooks.log,
    clock: Date.now,
    sleep: sleepUnref,
    names,
    marketDataLimit: settings.marketDataLimit,
    secrets: {
      [names.secret]: JSON.stringify({ app_key: appKey, app_secret: appSecret, access_token: accessToken }),
      [names.identityKey]: identityKey,
    },
    onFailure: (error) => failed(error, 'bus'),
  });
  const platform = { ...plain, ports: { ...plain.ports, send: sending(plain.ports.send) } };
  const identity = createIdentity(async () => identityKey);
  const env: FunctionParts['env'] = (asked, isClosed) =>
    localEnvironment(settings, { ...urls, issuer: isClosed ? issuer() : '' }, asked, isClosed);
  // A worker holds the app key itself: no caller comes to it.
  const worker = (asked: readonly Operation[]) =>
    localEnvironment(settings, { ...urls, issuer: '' }, asked, true);
  const granting = withGrants(platform);
  const origins = createQuoteOrigins();
  const portsOf = (name: string) => origins.noting(name, granting.platform.ports);
  const parts = { platform: granting.platform, env, portsOf };
  const workerParts = { env: worker, platform: { ...platform, ports: origins.listening(platform.ports) } };
  const audit = startOrderAudit(workerParts);
  const events = platform.bus(names.eventsBus);
  const hasEvents = urls.eventsUrl !== undefined;
  const workers = startWorkers(workerParts, events, failed);
  if (hooks.tradeEvent) events.subscribe(hooks.tradeEvent);
  const hasAccounts = openGroups.some(isAccountData);
  return {
    platform,
    identity,
    origins,
    granted: granting.granted,
    routes: [...groupRoutes(openGroups, parts), ...(hasAccounts ? [audit] : [])],
    lookups: startLookups(openGroups, parts),
    tradeEvents: hasEvents ? events : undefined,
    streams: [
      ...(hasEvents ? [createEventStream(parts, settings)] : []),
      ...(openGroups.includes('market-data') ? [createQuoteStream(parts, settings)] : []),
    ],
    async close() {
      await Promise.all(workers.map((one) => one.close()));
    },
  };
}

/** A request may come before the grants are written, and the absence of one would be remembered for half a minute. */
function withGrants(platform: MemoryPlatform): {
  readonly platform: MemoryPlatform;
  readonly granted: () => void;
} {
  let granted = () => {};
  const written = new Promise<void>((resolve) => {
    granted = resolve;
  });
  const accessStore: MemoryPlatform['ports']['accessStore'] = (name) => ({
    async read(keys) {
      await written;
      return platform.access(name).read(keys);
    },
  });
  return { granted, platform: { ...platform, ports: { ...platform.ports, accessStore } } };
}

interface ApiParts {
  readonly users: readonly LocalUser[];
  readonly simulator: Simulator | undefined;
  readonly log: RequestLog;
  /** Known when the run listens. */
  readonly url: () => string;
}

async function apiOf(
  deployment: LocalDeployment,
  settings: LocalSettings,
  hooks: Hooks,
  { users, simulator, log, url }: ApiParts,
): Promise<ApiGatewayOptions> {
  const { platform, lookups, streams, origins } = deployment;
  const { openGroups, corsOrigins, marketDataLimit = limits['market-data'] } = settings;
  const issuerUrl = () => `${url()}${issuerPath}`;
  const issuer = await createIssuer({ issuer: issuerUrl, users: users.map(({ name }) => name) });
  const exposed = exposedOperations(operations, openGroups);
  const followed = liveOperations.filter(({ path }) => streams.some((one) => one.path === path));
  // With a key, and what belongs to an account also with a token beside it.
  const documentOf = () => ({
    operations: [...exposed, ...exposedOperations(followed, openGroups)],
    servers: [{ url: url(), description: 'This local run.' }],
    access: localMode,
  });
  const asked = createAsked();
  const routes = deployment.routes.map((route) => seenBy(log, asked.add, route));
  const snapshots = deployment.routes.find(({ path }) => path === getStockSnapshots.path)?.handler;
  return {
    port: settings.port,
    host: settings.host,
    routes: [
      ...routes,
      ...eventsRoutes(settings, platform.bus(names.lookupBus), lookups),
      ...tradingRoutes(deployment, openGroups, issuerUrl),
      ...createRunRoutes({ settings, simulator, users, log, asked, snapshots, origins }),
    ],
    streams,
    forms: below(issuerPath, issuer.forms),
    pages: new Map([
      ...below(issuerPath, issuer.pages),
      ...createPages({
        document: (form) => documentIn(form, documentOf()),
        reference: () => referenceOf(documentOf(), simulator !== undefined),
        open: openGroups,
      }),
      ...constantPages(exposed),
    ]),
    apiKeys: apiKeysOf(settings),
    corsOrigins,
    plan: planOfTier(settings.plan ?? 'upstream', marketDataLimit),
    refuse: refuseIn(settings),
    ...defined({ log: hooks.access, onHandlerError: hooks.defect }),
  };
}

/** The same route; what is sent upstream for a request is noted under its id. */
const seenBy = (log: RequestLog, askedForQuotes: () => void, route: LocalRoute): LocalRoute => {
  const match = findRoute(everyRoute, route.method, route.path);
  const isOfQuotes = match.kind === 'route' && match.route.operation.limit === 'market-data';
  return {
    ...route,
    handler(event, context) {
      if (isOfQuotes) askedForQuotes();
      return log.during(event.requestContext.requestId, () => route.handler(event, context));
    },
  };
};

function tradingRoutes(
  { platform, identity }: LocalDeployment,
  openGroups: readonly Group[],
  issuer: () => string,
): readonly LocalRoute[] {
  const store = platform.controls(names.controls);
  return openGroups.includes('orders')
    ? createTradingRoutes({ store, massCancels: store.massCancels, identity, issuer })
    : [];
}

const issuerPath = '/issuer';

/** With a leading underscore, as no operation has it. */
export const eventsPath = '/_events';

/** With the key, so that no page in a browser asks by event. */
const eventsRoutes = (
  { corsOrigins }: LocalSettings,
  bus: LocalBus,
  lookups: LocalLookups | undefined,
): readonly LocalRoute[] =>
  lookups
    ? [
        {
          method: 'POST',
          path: eventsPath,
          handler: createEventsEndpoint({ bus, lookups, corsOrigins }),
          isOperators: true,
        },
      ]
    : [];

const below = <T>(base: string, byPath: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...byPath].map(([path, page]) => [base + path, page]));

/** Undefined where no listener runs. */
const eventServiceOf = ({ tradeEvents }: LocalSettings, simulator: Simulator | undefined) =>
  tradeEvents && (tradeEvents.url ?? (simulator && `http://127.0.0.1:${simulator.events.port}`));

const keyOfFirstUser = 'local';

const apiKeysOf = ({ apiKey, otherApiKeys = [] }: LocalSettings): readonly ApiKey[] => [
  { id: keyOfFirstUser, value: apiKey },
  ...otherApiKeys.map((value, index) => ({ id: `local-${index + 2}`, value })),
];
