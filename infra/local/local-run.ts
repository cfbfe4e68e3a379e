/** The whole product on this machine: local API Gateway → the deployed handlers → an upstream. */

import { createGroupHandler } from '../../functions/aws/group-handler.ts';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import {
  exposedOperations,
  findRoute,
  type Group,
  limits,
  operations,
  planOfTier,
  routesOf,
} from '../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
  type RequestReport,
  refusalResponse,
  upstreamPathsOf,
} from '../../lib/gateway/index.ts';
import { listening } from '../environment.ts';
import { openApiDocument } from '../open-api/document.ts';
import { type Simulator, startSimulator } from '../simulator/index.ts';
import { type AccessLogEntry, type ApiKey, type LocalApiGateway, startApiGateway } from './api-gateway.ts';
import { constantPages, createPages } from './pages.ts';
import type { LocalSettings } from './settings.ts';

export interface LocalRun {
  readonly url: string;
  readonly upstreamUrl: string;
  /** Present unless another upstream was configured. */
  readonly simulator?: Simulator;
  close(): Promise<void>;
}

export interface LocalRunHooks {
  readonly access?: (entry: AccessLogEntry) => void;
  readonly report?: (report: RequestReport) => void;
  readonly defect?: (error: unknown, requestId: string) => void;
}

const everyRoute = routesOf(operations);

/** @throws StartError when a port is taken */
export async function startLocalRun(settings: LocalSettings, hooks: LocalRunHooks = {}): Promise<LocalRun> {
  const { upstream, credentials, marketDataLimit = limits['market-data'], upstreamLimits } = settings;
  const simulator =
    'simulatorPort' in upstream
      ? await listening(
          startSimulator({
            ...credentials,
            port: upstream.simulatorPort,
            limits: { 'market-data': marketDataLimit },
            ...(upstreamLimits && { upstreamLimits }),
          }),
          upstream.simulatorPort,
          'UPSTREAM_PORT',
        )
      : undefined;
  const upstreamUrl = 'baseUrl' in upstream ? upstream.baseUrl : (simulator as Simulator).url;
  let api: LocalApiGateway;
  try {
    api = await listening(
      startApiGateway({
        port: settings.port,
        routes: localRoutes(settings, upstreamUrl, hooks.report),
        pages: new Map([
          ...createPages(() => documentOf(settings.openGroups, api.url)),
          ...constantPages(exposedOperations(operations, settings.openGroups)),
        ]),
        apiKeys: apiKeysOf(settings),
        plan: planOfTier(settings.plan ?? 'upstream', marketDataLimit),
        refuse: (code, { requestId, method, path, allow, retryAfterSeconds }) => {
          const match = findRoute(everyRoute, method, path);
          const sideEffect = match.kind === 'route' ? match.route.operation.sideEffect : undefined;
          const mayHaveBeenSent = code === 'gateway_timeout' || code === 'gateway_error';
          const { status, headers, body } = refusalResponse(
            {
              code,
              ...(allow && { allow }),
              ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
              ...(mayHaveBeenSent && sideEffect && { findOut: sideEffect.findOut }),
            },
            requestId,
          );
          return { status, headers, body: new TextDecoder().decode(body) };
        },
        ...(hooks.access && { log: hooks.access }),
        ...(hooks.defect && { onHandlerError: hooks.defect }),
      }),
      settings.port,
      'PORT',
    );
  } catch (error) {
    await simulator?.close();
    throw error;
  }
  return {
    url: api.url,
    upstreamUrl,
    ...(simulator && { simulator }),
    async close() {
      await api.close();
      await simulator?.close();
    },
  };
}

const apiKeysOf = ({ apiKey, otherApiKeys = [] }: LocalSettings): readonly ApiKey[] => [
  { id: 'local', value: apiKey },
  ...otherApiKeys.map((value, index) => ({ id: `local-${index + 2}`, value })),
];

/** What this run exposes, all of it with any of its keys. */
const documentOf = (open: readonly Group[], url: string) =>
  openApiDocument({
    operations: exposedOperations(operations, open),
    servers: [{ url, description: 'This local run.' }],
    access: () => 'api-key',
  });

/** One handler for each group, as deployed; only opened groups are routed. */
function localRoutes(
  {
    openGroups,
    credentials,
    accessToken,
    upstreamPaths = {},
    marketDataLimit,
    upstreamLimits,
    cache,
  }: LocalSettings,
  upstreamBaseUrl: string,
  report: LocalRunHooks['report'],
) {
  const secret = JSON.stringify({
    app_key: credentials.appKey,
    app_secret: credentials.appSecret,
    access_token: accessToken,
  });
  // One for all groups, as they share the upstream's limit.
  const limiter = createLimiter({
    store: createMemoryLimiterStore(),
    limits: {
      ...limiterLimits({}, 1, { upstreamLimits, operations }),
      ...(marketDataLimit && { 'market-data': marketDataLimit }),
    },
    bucket: 'local',
  });
  // One for all groups, as deployed.
  const cacheStores = createMemoryCacheStores();
  return openGroups.flatMap((group) => {
    const own = operations.filter((operation) => operation.group === group);
    const handler = createGroupHandler({
      send: createNodeSend(),
      operations: own,
      upstreamBaseUrl,
      upstreamPaths: upstreamPathsOf(upstreamPaths, own),
      secrets: { read: async () => secret },
      limiter,
      ...(upstreamLimits && { upstreamLimits }),
      ...(cache !== 'off' && { cache: cacheStores }),
      ...(report && { report }),
    });
    return routesOf(own).map(({ method, path }) => ({ method, path, handler }));
  });
}
