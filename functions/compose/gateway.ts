/** The gateway of every function and worker: settings and ports become the options of the core, each of them named. */

import { textHash } from '../../lib/cache/snapshots/hash.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import type { CacheOptions } from '../../lib/gateway/cache-options.ts';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type SecretSource,
  upstreamPathsOf,
} from '../../lib/gateway/index.ts';
import type { LowPriorityLimiter } from '../../lib/lookups/index.ts';
import { requestEntry } from '../log/log.ts';
import { tokenRefusal } from '../log/token-metric.ts';
import type { CacheSettings, FunctionSettings } from '../settings/settings.ts';
import { every } from './every.ts';
import { composeLimiter } from './limiter.ts';
import type { GatewayPorts } from './ports.ts';

/** What one gateway is, among those of a function's settings. */
export interface GatewayParts {
  readonly operations: readonly Operation[];
  /** What the journal looks orders up with, for a gateway that does not offer it. */
  readonly lookUps: readonly Operation[];
  /** The upstream's lists of symbols, for a gateway that serves snapshots. */
  readonly listing: SymbolListing | undefined;
  /** There when its requests can wait for those of others. */
  readonly lowPriority: LowPriorityLimiter | undefined;
  readonly secrets: SecretSource;
  readonly access: GatewayOptions['access'];
  readonly orders: GatewayOptions['orders'];
  readonly canCarry: GatewayOptions['canCarry'];
}

export function composeGateway(
  settings: FunctionSettings,
  ports: GatewayPorts,
  { operations, lookUps, listing, lowPriority, ...parts }: GatewayParts,
): Gateway {
  const { log, clock, send } = ports;
  const { upstreamBaseUrl, upstreamTimeoutMs, limiter: limits, cache, secretId } = settings;
  const asked = [...operations, ...lookUps];
  const limiter = limits && composeLimiter(limits, asked, ports, lowPriority);
  return createGateway(
    every<GatewayOptions>({
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
      cache: cache && composeCache(cache, upstreamBaseUrl, listing, ports),
      report: (report) => {
        log({ ...requestEntry(report), ...tokenRefusal(report, secretId, clock()) });
        limiter?.metrics.write();
      },
      reportRefresh: (report) => log({ level: 'warn', event: 'turn_failed', ...report }),
      afterRateLimit: undefined,
      breaker: undefined,
      random: undefined,
      nonce: undefined,
      maxAnswerBytes: undefined,
      secretTimeToLiveMs: undefined,
    }),
  );
}

/** All functions on the same table share it. */
function composeCache(
  { tableName, tuning }: CacheSettings,
  upstreamBaseUrl: string,
  listing: SymbolListing | undefined,
  ports: GatewayPorts,
): CacheOptions {
  const { snapshots, responses, directory, versions } = ports.cacheStores(
    tableName,
    upstreamName(upstreamBaseUrl),
  );
  return every<CacheOptions>({
    snapshots,
    // A response's key contains its account.
    responses,
    versions,
    // The same symbols exist for all accounts.
    directory: listing && { store: directory(), listing },
    tuning,
  });
}

/** Part of every key of what is shared: no upstream's answer is ever returned as another's. */
export const upstreamName = (upstreamBaseUrl: string): string => textHash(upstreamBaseUrl).toString(36);
