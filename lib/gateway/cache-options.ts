/** The cache's stores and options, and the gateway's parts that it uses. */

import { createMemoryResponseStore, type ResponseStore, type Versions } from '../cache/responses/index.ts';
import {
  createMemoryDirectoryStore,
  createMemorySnapshotStore,
  type DirectoryStore,
  type SnapshotOptions,
  type SnapshotStore,
  type StreamedLog,
} from '../cache/snapshots/index.ts';
import { type SymbolListing, symbolListing } from '../catalogue/symbol-listing.ts';
import type { Caller } from '../identity/caller.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { Limiter } from '../limiter/index.ts';
import type { RefusalCode, ReportedUpstream } from '../problem.ts';
import type { AdmittedRequest } from './admit.ts';
import type { Credentials } from './credentials.ts';
import type { LimitRules } from './limits/operation-limits.ts';
import type { Outcome } from './outcome.ts';
import type { Upstream } from './upstream.ts';

export interface CacheWiring {
  /** Opens the store for one operation of one account; `partition` names both without revealing the app key. */
  readonly snapshots: (partition: string) => SnapshotStore;
  /** Opens the log of the market stream, by the same partition names. Default none: every record is fetched. */
  readonly streamed: ((partition: string) => StreamedLog) | undefined;
  readonly responses: ResponseStore;
  /**
   * Versions that end the shared answers of an account after a change. Default the gateway's own, over `responses`.
   * Gateways of one process should share one, so that a change through one gateway also ends the shared requests of another.
   */
  readonly versions: Versions | undefined;
  /**
   * Store and source of the upstream's list of symbols. Default: none, and the cache probes each symbol alone before it
   * requests it together with others.
   */
  readonly directory: { readonly store: DirectoryStore; readonly listing: SymbolListing };
  readonly tuning: CacheTuning | undefined;
}

export type CacheOptions = OptionsOf<CacheWiring, 'snapshots' | 'responses'>;

/** The cache settings that a deployer may change; times in milliseconds. */
export type CacheTuning = Partial<
  Pick<SnapshotOptions, 'staleAfterMs' | 'expireAfterMs' | 'minMaxAgeMs' | 'refreshesPerMinute' | 'instances'>
>;

/** The gateway's parts that the cache works with. */
export interface CacheParts extends LimitRules {
  readonly upstream: Upstream;
  readonly credentials: Credentials;
  readonly limiter: Limiter | undefined;
  readonly clock: () => number;
  /** Time limit of one attempt at the upstream. */
  readonly timeoutMs: number;
  readonly reportRefresh: ((report: RefreshReport) => void) | undefined;
  /** Whether this gateway's limits are still those that all instances keep. Default: always. */
  readonly isInForce: (() => Promise<boolean>) | undefined;
}

/** Answers the reads of one operation, or of several. */
export interface CachedReads {
  ask(read: AdmittedRequest): Promise<Outcome>;
}

/** Report on a refresh of the snapshot cache that brought no records; it serves many clients, so no request's report has it. */
export interface RefreshReport extends ReportedUpstream {
  readonly operation: string;
  readonly code: RefusalCode;
  /** How many symbols the refresh requested. */
  readonly symbols: number;
}

/** The caller that all requests without a caller count as. */
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
