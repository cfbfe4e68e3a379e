/** The gateway of every function and worker: settings and ports become the options of the core, each of them named. */

import { textHash } from '../../lib/cache/snapshots/records.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { type CacheStep, cacheStep, type ResponsesWiring, responsesStep } from '../../lib/gateway/cache.ts';
import type { CacheWiring } from '../../lib/gateway/cache-options.ts';
import { createCore, type Gateway } from '../../lib/gateway/core.ts';
import type { CoreWiring } from '../../lib/gateway/options.ts';
import { upstreamPathsOf } from '../../lib/gateway/upstream-paths.ts';
import type { LowPriorityLimiter } from '../../lib/limiter/low-priority.ts';
import { createCacheMetrics } from '../log/cache-metrics.ts';
import { requestEntry } from '../log/log.ts';
import { upstreamCount } from '../log/metrics.ts';
import type { FunctionSettings } from '../settings/function-settings.ts';
import type { CacheSettings } from '../settings/parts.ts';
import { composeLimiter } from './limiter.ts';
import type { GatewayPorts, QuotePorts } from './ports.ts';

/** What one gateway is, among those of a function's settings. */
interface GatewayParts extends Pick<CoreWiring, 'operations' | 'secrets' | 'access' | 'cache' | 'orders'> {
  /** What the journal looks orders up with, for a gateway that does not offer it. */
  readonly lookUps: readonly Operation[];
  /** There when its requests can wait for those of others. */
  readonly lowPriority: LowPriorityLimiter | undefined;
}

export function composeGateway(
  settings: FunctionSettings,
  ports: GatewayPorts,
  { operations, lookUps, lowPriority, ...parts }: GatewayParts,
): Gateway {
  const { log, clock, send, digests } = ports;
  const { upstreamBaseUrl, upstreamTimeoutMs, limiter: limits, secretId } = settings;
  const asked = [...operations, ...lookUps];
  const limiter = limits && composeLimiter(limits, asked, ports, lowPriority);
  const cacheMetrics = createCacheMetrics(log, { secretId, clock });
  return createCore({
    ...parts,
    operations,
    upstreamBaseUrl,
    // Without that of a read that is not this gateway's.
    upstreamPaths: upstreamPathsOf(settings.upstreamPaths, asked),
    upstreamTimeoutMs,
    send,
    clock,
    readSecretAhead: true,
    limiter: limiter?.limiter,
    tightening: limiter?.tightening,
    operationLimits: limits?.operationLimits,
    upstreamLimits: limits?.upstreamLimits,
    report: (report) => {
      log({ ...requestEntry(report), ...upstreamCount(report, secretId, clock()) });
      if (report.code === 'budget_used_up') limiter?.metrics.usedUp();
      limiter?.metrics.write();
      cacheMetrics.record(report);
      cacheMetrics.write();
    },
    reportRefresh: (report) =>
      log({
        level: 'warn',
        event: 'turn_failed',
        ...report,
        ...upstreamCount(report, secretId, clock()),
      }),
    digests,
  } satisfies CoreWiring);
}

type CachePartSettings = Pick<FunctionSettings, 'cache' | 'upstreamBaseUrl'>;

/** Whole answers, which all functions on the same table share. */
export function composeResponses(
  { cache, upstreamBaseUrl }: CachePartSettings,
  ports: GatewayPorts,
): CacheStep | undefined {
  if (!cache) return undefined;
  const stores = ports.responses(cache.tableName, upstreamName(upstreamBaseUrl));
  return responsesStep({ ...stores, tuning: cache.tuning } satisfies ResponsesWiring);
}

/** Besides them, quotes by symbol. */
export function composeQuotes(
  listing: SymbolListing,
  { cache, upstreamBaseUrl }: CachePartSettings,
  ports: QuotePorts,
): CacheStep | undefined {
  if (!cache) return undefined;
  // A response's key contains its account.
  const responses = ports.responses(cache.tableName, upstreamName(upstreamBaseUrl));
  return cacheStep({
    ...responses,
    ...sharedQuotes(listing, cache, upstreamBaseUrl, ports),
  } satisfies CacheWiring);
}

/** What all functions that serve quotes share. */
export function sharedQuotes(
  listing: SymbolListing,
  { tableName, tuning, hasMarketStream }: CacheSettings,
  upstreamBaseUrl: string,
  ports: QuotePorts,
): Omit<CacheWiring, 'responses' | 'versions'> {
  const shared = [tableName, upstreamName(upstreamBaseUrl)] as const;
  // The same symbols exist for all accounts.
  const directory = { store: ports.directory(...shared), listing };
  const streamed = hasMarketStream ? ports.streamed(...shared) : undefined;
  return { snapshots: ports.snapshots(...shared), streamed, directory, tuning };
}

/** Part of every key of what is shared: no upstream's answer is ever returned as another's. */
export const upstreamName = (upstreamBaseUrl: string): string => textHash(upstreamBaseUrl).toString(36);
