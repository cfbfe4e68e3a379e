/** The whole product on this machine: local API Gateway → the deployed handlers → an upstream. */

import { randomBytes } from 'node:crypto';
import { createIdentity } from '../../lib/access/identity.ts';
import {
  exposedOperations,
  findRoute,
  type Group,
  limits,
  operations,
  planOfTier,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { type RateLimitReport, type RequestReport, refusalResponse } from '../../lib/gateway/index.ts';
import { otherMethod, unknownPath } from '../../lib/gateway/no-route.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { refusalKinds } from '../../lib/problem.ts';
import { localMode } from '../access-modes.ts';
import { listening } from '../environment.ts';
import { type DocumentForm, documentIn } from '../open-api/document-form.ts';
import { type Simulator, startSimulator } from '../simulator/index.ts';
import {
  type AccessLogEntry,
  type ApiKey,
  type LocalApiGateway,
  type Refuse,
  startApiGateway,
} from './api-gateway.ts';
import { createLocalBus, type LocalBus } from './bus.ts';
import { createEventsEndpoint } from './events-endpoint.ts';
import { createHandlers } from './handlers.ts';
import { createIssuer } from './issuer.ts';
import type { LocalLookups } from './lookups.ts';
import { type LocalMassCancels, startMassCancels, withWake } from './mass-cancels.ts';
import { constantPages, createPages } from './pages.ts';
import type { LocalSettings } from './settings.ts';
import { startSettlement } from './settlement.ts';
import { type LocalTradeEvents, startTradeEvents, type TradeEventHooks } from './trade-events.ts';
import { createTradingRoutes } from './trading.ts';
import { createLocalAccess, type LocalUser, usersOf } from './users.ts';

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

export interface LocalRunHooks extends TradeEventHooks {
  readonly access?: (entry: AccessLogEntry) => void;
  readonly report?: (report: RequestReport) => void;
  /** The upstream answered 429 although its configured limits were kept. */
  readonly rateLimited?: (report: RateLimitReport) => void;
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
  return (code, { requestId, method, path, allow, retryAfterSeconds }) => {
    const match = findRoute(everyRoute, method, path);
    const sideEffect = match.kind === 'route' ? match.route.operation.sideEffect : undefined;
    const mayHaveBeenSent = code === 'gateway_timeout' || code === 'gateway_error';
    const { status, headers, body } = refusalResponse(
      {
        code,
        ...(code === 'unknown_operation' && elsewhere(path, openRoutes)),
        ...(allow && otherMethod(allow)),
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
  const { upstream, credentials, accessToken, corsOrigins, upstreamLimits } = settings;
  const { marketDataLimit = limits['market-data'] } = settings;
  const simulator =
    'simulatorPort' in upstream
      ? await listening(
          startSimulator({
            ...credentials,
            port: upstream.simulatorPort,
            events: { port: upstream.eventsPort ?? 0 },
            limits: { 'market-data': marketDataLimit },
            ...(upstreamLimits && { upstreamLimits }),
            ...settings.faults,
          }),
          { UPSTREAM_PORT: upstream.simulatorPort, EVENTS_PORT: upstream.eventsPort ?? 0 },
        )
      : undefined;
  const upstreamUrl = 'baseUrl' in upstream ? upstream.baseUrl : (simulator as Simulator).url;
  const { users = usersOf(simulator?.accounts) } = settings;
  const issuerUrl = () => `${api.url}${issuerPath}`;
  const bus = createLocalBus({ onFailure: (error) => hooks.defect?.(error, 'bus') });
  const identityKey = randomBytes(32).toString('base64url');
  const identity = createIdentity(async () => identityKey);
  let api: LocalApiGateway;
  let lookups: LocalLookups | undefined;
  let tradeEvents: LocalTradeEvents | undefined;
  let settlement: ReturnType<typeof startSettlement> | undefined;
  let cancelling: LocalMassCancels | undefined;
  try {
    const issuer = await createIssuer({ issuer: issuerUrl, users: users.map(({ name }) => name) });
    const access = createLocalAccess({ users, apiKeyId: keyOfFirstUser, issuer: issuerUrl, identity });
    const { report, rateLimited } = hooks;
    const { controls, massCancels } = withWake(createMemoryControls(), () => cancelling?.wake());
    const handlers = createHandlers(settings, {
      upstreamBaseUrl: upstreamUrl,
      access,
      controls,
      massCancels,
      bus,
      report,
      rateLimited,
    });
    lookups = handlers.lookups;
    const url = eventServiceOf(settings, simulator);
    if (url !== undefined) {
      const { orders } = handlers;
      const credential = { ...credentials, ...(accessToken !== undefined && { accessToken }) };
      const { names } = identity;
      tradeEvents = startTradeEvents({ url, credential, orders, names, access, corsOrigins, hooks });
    }
    settlement = startSettlement({
      journal: handlers.journal,
      orders: handlers.orders,
      names: identity.names,
      appKey: credentials.appKey,
      bus: tradeEvents?.bus,
      onFailure: (error) => hooks.defect?.(error, 'settlement'),
    });
    cancelling = startMassCancels({
      store: massCancels,
      journal: handlers.journal,
      orders: handlers.orders,
      cancels: handlers.cancels,
      names: identity.names,
      appKey: credentials.appKey,
      onFailure: (error) => hooks.defect?.(error, 'mass cancel'),
    });
    api = await listening(
      startApiGateway({
        port: settings.port,
        routes: [
          ...handlers.routes,
          ...eventsRoutes(settings, bus, lookups),
          ...(settings.openGroups.includes('orders')
            ? createTradingRoutes({ store: controls, massCancels, identity, issuer: issuerUrl })
            : []),
        ],
        streams: tradeEvents ? [tradeEvents.stream] : [],
        forms: below(issuerPath, issuer.forms),
        pages: new Map([
          ...below(issuerPath, issuer.pages),
          ...createPages({
            document: (form) => documentOf(form, settings.openGroups, api.url),
            open: settings.openGroups,
          }),
          ...constantPages(exposedOperations(operations, settings.openGroups)),
        ]),
        apiKeys: apiKeysOf(settings),
        corsOrigins,
        plan: planOfTier(settings.plan ?? 'upstream', marketDataLimit),
        refuse: refuseIn(settings),
        ...(hooks.access && { log: hooks.access }),
        ...(hooks.defect && { onHandlerError: hooks.defect }),
      }),
      { PORT: settings.port },
    );
  } catch (error) {
    cancelling?.close();
    settlement?.close();
    await tradeEvents?.close();
    await simulator?.close();
    throw error;
  }
  return {
    url: api.url,
    upstreamUrl,
    issuer: issuerUrl(),
    users,
    bus,
    ...(tradeEvents && { tradeEvents: tradeEvents.bus }),
    ...(simulator && { simulator }),
    async close() {
      cancelling?.close();
      settlement?.close();
      await tradeEvents?.close();
      await api.close();
      lookups?.close();
      await simulator?.close();
    },
  };
}

const issuerPath = '/issuer';

/** With a leading underscore, as no operation has it. */
export const eventsPath = '/_events';

/** With the key, so that no page in a browser asks by event. */
const eventsRoutes = ({ corsOrigins }: LocalSettings, bus: LocalBus, lookups: LocalLookups | undefined) =>
  lookups
    ? [{ method: 'POST', path: eventsPath, handler: createEventsEndpoint({ bus, lookups, corsOrigins }) }]
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

/** What this run exposes: with a key, and what belongs to an account also with a token beside it. */
const documentOf = (form: DocumentForm, open: readonly Group[], url: string) =>
  documentIn(form, {
    operations: exposedOperations(operations, open),
    servers: [{ url, description: 'This local run.' }],
    access: localMode,
  });
