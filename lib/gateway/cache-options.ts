/** What the cache is made of: stores, options, the gateway's parts through which it asks the upstream; and a read. */

import { createMemoryResponseStore, type ResponseStore, type Versions } from '../cache/responses/index.ts';
import {
  createMemoryDirectoryStore,
  createMemorySnapshotStore,
  type DirectoryStore,
  type SnapshotOptions,
  type SnapshotStore,
  type StreamedLog,
} from '../cache/snapshots/index.ts';
import type { Route } from '../catalogue/routes.ts';
import { type SymbolListing, symbolListing } from '../catalogue/symbol-listing.ts';
import type { Caller } from '../identity/caller.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { Limiter } from '../limiter/index.ts';
import type { RefusalCode, ReportedUpstream } from '../problem.ts';
import type { RequestContext } from './context.ts';
import type { Credential, Credentials } from './credentials.ts';
import type { GatewayRequest } from './http.ts';
import type { LimitRules } from './operation-limits.ts';
import type { ReachNow } from './reach.ts';
import type { Upstream } from './upstream.ts';
import type { ValidRequest } from './validate.ts';

export interface CacheWiring {
  /** Of one operation of one account at the upstream, by a name that does not reveal the app key. */
  readonly snapshots: (partition: string) => SnapshotStore;
  /** The log of the market stream, by the same names. Default none: every record is fetched. */
  readonly streamed: ((partition: string) => StreamedLog) | undefined;
  readonly responses: ResponseStore;
  /**
   * Which answers of accounts changes have ended. Default the gateway's own, over `responses`. Gateways of one process
   * share one: a change through any of them then ends the requests that are under way in another.
   */
  readonly versions: Versions | undefined;
  /**
   * For the upstream's list of symbols. Default: none, and the cache probes each symbol before it requests it
   * together with others.
   */
  readonly directory: { readonly store: DirectoryStore; readonly listing: SymbolListing };
  readonly tuning: CacheTuning | undefined;
}

export type CacheOptions = OptionsOf<CacheWiring, 'snapshots' | 'responses'>;

/** What a deployer may change; times in milliseconds. */
export type CacheTuning = Partial<
  Pick<SnapshotOptions, 'staleAfterMs' | 'expireAfterMs' | 'minMaxAgeMs' | 'refreshesPerMinute' | 'instances'>
>;

/** The gateway's parts that the cache works with. */
export interface CacheParts extends LimitRules {
  readonly upstream: Upstream;
  readonly credentials: Credentials;
  readonly limiter: Limiter | undefined;
  readonly clock: () => number;
  /** For one attempt at the upstream. */
  readonly timeoutMs: number;
  readonly reportRefresh: ((report: RefreshReport) => void) | undefined;
  /** Whether its limits are still those that all instances keep. Default they always are. */
  readonly isInForce: (() => Promise<boolean>) | undefined;
}

/** A request that is routed, identified and validated, with the credential that it is signed with. */
export interface AdmittedRequest {
  readonly route: Pick<Route, 'operation' | 'path'>;
  readonly request: GatewayRequest;
  readonly valid: ValidRequest;
  readonly credential: Credential;
  readonly context: RequestContext;
  readonly reachNow: ReachNow;
}

/** A refresh of the snapshot cache that brought nothing; no single request of a client is its cause. */
export interface RefreshReport extends ReportedUpstream {
  readonly operation: string;
  readonly code: RefusalCode;
  /** How many symbols it requested. */
  readonly symbols: number;
}

/** All requests without a caller are one caller's. */
export const anonymousCaller: Caller = { unit: 'anybody' };

/**
 * The cache's stores in memory: for the local run, and for tests.
 *
 * @example
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets, cache: createMemoryCacheStores() });
 */
export function createMemoryCacheStores(): Pick<CacheOptions, 'snapshots' | 'responses' | 'directory'> {
  const stores = new Map<string, SnapshotStore>();
  return {
    snapshots(account) {
      const store = stores.get(account) ?? createMemorySnapshotStore();
      stores.set(account, store);
      return store;
    },
    responses: createMemoryResponseStore(),
    directory: { store: createMemoryDirectoryStore(), listing: symbolListing },
  };
}
