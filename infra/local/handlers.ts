/**
 * The functions of a deployment in this process: one handler for each, and one for lookups by event. They share secret,
 * limiter and caches, as deployed ones do.
 */

import { createGroupHandler } from '../../functions/aws/group-handler.ts';
import { readsOf } from '../../functions/aws/lookup-environment.ts';
import { createNodeSend } from '../../functions/aws/node-send.ts';
import { createVersions } from '../../lib/cache/responses/index.ts';
import { snapshotReadsOf } from '../../lib/cache/snapshots/one-symbol.ts';
import { functionOf, functionsOf, groupOf, operationsIn } from '../../lib/catalogue/functions.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import {
  cancelOrder,
  getOrder,
  getStockSnapshots,
  limits,
  operations,
  routesOf,
  type UpstreamLimits,
} from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { AccessOptions } from '../../lib/gateway/access-options.ts';
import {
  createGateway,
  createLimiter,
  createLimitsInForce,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type Gateway,
  type GatewayOptions,
  type Limiter,
  limiterLimits,
  limitsInForceKey,
  type RateLimitReport,
  type RequestReport,
  type Tightening,
  upstreamPathsOf,
} from '../../lib/gateway/index.ts';
import { createGatewayLastPrices } from '../../lib/gateway/last-prices.ts';
import { withLookUps } from '../../lib/gateway/look-ups.ts';
import type {
  ControlStore,
  LastPrices,
  MassCancelStore,
  TradingLimits,
} from '../../lib/guard-rails/index.ts';
import { createLowPriorityLimiter, type LowPriorityLimiter } from '../../lib/lookups/index.ts';
import type { CountingJournal } from '../../lib/orders/index.ts';
import { orderReadOperations } from '../../lib/trade-events/index.ts';
import type { LocalBus } from './bus.ts';
import { createLocalLookups, type LocalLookups } from './lookups.ts';
import type { LocalRoute } from './options.ts';
import { createLocalOrderAudit } from './order-audit.ts';
import type { LocalSettings } from './settings.ts';

/** Wide enough for every example, and narrow enough to be met by a slip of the finger. */
export const demoLimits: TradingLimits = { max_order_notional: '100000', max_orders_per_minute: 600 };

export interface HandlerParts {
  readonly upstreamBaseUrl: string;
  readonly access: AccessOptions;
  /** Limits and the kill switch. */
  readonly controls: ControlStore;
  /** Where failed checks ask for cancels. */
  readonly massCancels: Pick<MassCancelStore, 'request'>;
  /** Where lookups are asked for, and answered. */
  readonly bus: LocalBus;
  readonly report?: ((report: RequestReport) => void) | undefined;
  /** The upstream answered 429 although its configured limits were kept. */
  readonly rateLimited?: ((report: RateLimitReport) => void) | undefined;
}

export interface LocalHandlers {
  /** Of the opened groups only. */
  readonly routes: readonly LocalRoute[];
  /** Absent where no group of market facts is open: account data is readable by event only for sources with a grant. */
  readonly lookups?: LocalLookups;
  /** As the holder of the app key, at low priority: for the listener of trade events. */
  readonly orders: Pick<Gateway, 'ask'>;
  /** As the holder of the app key: for cancelling what is open. */
  readonly cancels: Pick<Gateway, 'ask'>;
  readonly journal: CountingJournal;
}

/** While less than half of the limit is left, lookups take one permit in this time. */
const pauseMs = 1000;
/** As the deployed listener of trade events. */
const ordersPriority = { reserve: 2, pauseMs: 2000 };

export function createHandlers(settings: LocalSettings, parts: HandlerParts): LocalHandlers {
  const { openGroups, marketDataLimit = limits['market-data'], corsOrigins } = settings;
  const lowPriority = createLowPriorityLimiter({
    reserve: Math.floor(marketDataLimit.requests / 2),
    pauseMs,
  });
  const ordersLowPriority = createLowPriorityLimiter(ordersPriority);
  const audit = createLocalOrderAudit(parts.access.names);
  const optionsOf = sharedOptions(settings, parts, [lowPriority, ordersLowPriority]);
  const { names } = parts.access;
  const { journal } = audit;
  const { controls, massCancels } = parts;
  const guard = { controls, massCancels, limits: settings.tradingLimits ?? demoLimits, journal };
  const lastPrices = lastPricesOf(optionsOf([getStockSnapshots]));
  const ordersKept = { journal, names, lookUps: [getOrder], guard: { ...guard, lastPrices } };
  const groupRoutes = openGroups.flatMap(functionsOf).flatMap((name) => {
    const handler = createGroupHandler({
      ...optionsOf(operationsIn(name, operations)),
      ...(isAccountData(groupOf(name)) && { access: parts.access, orders: ordersKept }),
      ...(corsOrigins && { corsOrigins }),
    });
    const routed = operations.filter((operation) => functionOf(operation) === name);
    return routesOf(routed).map(({ method, path, operation: { headers } }) => ({
      method,
      path,
      headers,
      handler,
    }));
  });
  const routes = [...groupRoutes, ...(openGroups.some(isAccountData) ? [audit.route] : [])];
  const reads = readsOf(
    operations,
    openGroups.filter((group) => !isAccountData(group)),
  );
  const { cache: _, ...ordersOptions } = optionsOf(orderReadOperations, ordersLowPriority.wrap);
  const orders = createGateway({ ...ordersOptions, access: 'single-user' });
  const cancels = createGateway({
    ...optionsOf([cancelOrder]),
    access: 'single-user',
    orders: { journal, names, lookUps: [getOrder] },
  });
  if (reads.length === 0) return { routes, orders, cancels, journal };
  const gateway = createGateway(optionsOf(reads, lowPriority.wrap));
  const lookups = createLocalLookups({ gateway, operations: reads, bus: parts.bus });
  return { routes, orders, cancels, journal, lookups };
}

/** Shares the quotes that clients read. */
function lastPricesOf({ cache, ...options }: GatewayOptions): LastPrices {
  return createGatewayLastPrices(getStockSnapshots, {
    ...options,
    ...(cache && { snapshots: (partition) => snapshotReadsOf(cache.snapshots(partition)) }),
  });
}

/** @returns what every gateway of the run has; `wrap` for one whose requests can wait */
function sharedOptions(
  { credentials, accessToken, upstreamPaths = {}, marketDataLimit, upstreamLimits, cache }: LocalSettings,
  { upstreamBaseUrl, report, rateLimited }: HandlerParts,
  lowPriority: readonly LowPriorityLimiter[],
) {
  const secret = JSON.stringify({
    app_key: credentials.appKey,
    app_secret: credentials.appSecret,
    access_token: accessToken,
  });
  // One for all, as they share the upstream's limit.
  const store = createMemoryLimiterStore();
  const limiterFor = (choice: UpstreamLimits = 'interface') =>
    createLimiter({
      store,
      limits: {
        ...limiterLimits({}, 1, { upstreamLimits: choice, operations }),
        ...(marketDataLimit && { 'market-data': marketDataLimit }),
      },
      bucket: 'local',
      report: (one) => {
        for (const { observe } of lowPriority) observe(one);
      },
    });
  const limiter = limiterFor(upstreamLimits);
  const inForce = createLimitsInForce({
    store,
    key: limitsInForceKey('local', upstreamLimits ?? 'interface'),
  });
  const cacheStores = createMemoryCacheStores();
  // Unlike a deployed instance, a handler here serves several requests at a time, and equal reads share one.
  const versions = createVersions({ store: cacheStores.responses, clock: Date.now });
  return (own: readonly Operation[], wrap = (one: Limiter) => one): GatewayOptions => {
    const tightening: Tightening = {
      inForce,
      limiterFor: (choice) => wrap(limiterFor(choice)),
      ...(rateLimited && { report: rateLimited }),
    };
    return {
      send: createNodeSend(),
      operations: own,
      upstreamBaseUrl,
      upstreamPaths: upstreamPathsOf(upstreamPaths, withLookUps(own, operations)),
      secrets: { read: async () => secret },
      limiter: wrap(limiter),
      tightening,
      ...(upstreamLimits && { upstreamLimits }),
      ...(cache !== 'off' && { cache: { ...cacheStores, versions } }),
      ...(report && { report }),
    };
  };
}
