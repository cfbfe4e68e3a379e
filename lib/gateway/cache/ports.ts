/** What all callers share: stores for it, figures, and what it asks the upstream through. */

import type { ResponseStore } from '../../cache/responses/index.ts';
import type { DirectoryStore, SnapshotOptions, SnapshotStore } from '../../cache/snapshots/index.ts';
import type { SymbolListing } from '../../catalogue/symbol-listing.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Limiter } from '../../limiter/index.ts';
import type { RefusalCode } from '../../problem.ts';
import type { Credentials } from '../credentials.ts';
import type { OperationLimits } from '../operation-limits.ts';
import type { Upstream } from '../upstream.ts';

export interface CacheOptions {
  /** Of one operation of one account at the upstream, by a name that does not show the app key. */
  readonly snapshots: (partition: string) => SnapshotStore;
  readonly responses: ResponseStore;
  /** For the upstream's list of symbols. Default: none, and each symbol is tested before it goes along with others. */
  readonly directory?: { readonly store: DirectoryStore; readonly listing: SymbolListing };
  readonly figures?: CacheFigures;
}

/** What a deployer may want to be otherwise; times in milliseconds. */
export type CacheFigures = Partial<
  Pick<SnapshotOptions, 'staleAfterMs' | 'expireAfterMs' | 'minMaxAgeMs' | 'refreshesPerMinute' | 'instances'>
>;

/** The gateway's parts that sharing works with. */
export interface CacheParts {
  readonly upstream: Upstream;
  readonly credentials: Credentials;
  readonly limiter?: Limiter;
  readonly operationLimits: OperationLimits;
  readonly clock: () => number;
  /** For one attempt at the upstream. */
  readonly timeoutMs: number;
  readonly reportRefresh?: (report: RefreshReport) => void;
}

/** A request to the upstream for what all share that brought nothing; no one request of a client's is its cause. */
export interface RefreshReport {
  readonly operation: string;
  readonly code: RefusalCode;
  readonly upstreamStatus?: number;
  readonly upstreamCode?: string;
  /** How many symbols it asked for. */
  readonly symbols: number;
}

/** Whoever is not told apart is one caller. */
export const anyCaller: Caller = { unit: 'anybody' };
