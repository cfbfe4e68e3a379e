/** The snapshot cache of one account over the upstream; converts the cache's outcomes to the gateway's. */

import { readCacheDirectives } from '../cache/headers.ts';
import {
  createSnapshotCache,
  defaultSnapshotOptions,
  type ServedSnapshot,
  type SnapshotCache,
  type SnapshotCacheOptions,
  type SnapshotOutcome,
  type SnapshotStore,
  type StreamedLog,
  viewOf,
} from '../cache/snapshots/index.ts';
import { hashOf } from '../cache/snapshots/records.ts';
import type { Operation } from '../catalogue/operation.ts';
import { ageMsOf, onSteadyClock, steadyClock } from '../kernel/age.ts';
import type { Refusal, SnapshotRecord } from '../problem.ts';
import { causedBy } from '../upstream/cause.ts';
import {
  type AdmittedRequest,
  anonymousCaller,
  type CacheOptions,
  type CacheParts,
} from './cache-options.ts';
import type { Credential } from './credentials.ts';
import { snapshotPaceOf } from './limit-sizes.ts';
import { type CacheResult, type Outcome, refused, type SnapshotsFound } from './outcome.ts';
import { fromUpstreamError, SnapshotUpstream } from './snapshot-upstream.ts';
import { createListings } from './symbol-listings.ts';

export interface CachedSnapshotsOptions extends Pick<CacheOptions, 'directory' | 'tuning'> {
  /** Store of the credential's account alone. */
  readonly store: SnapshotStore;
  readonly streamed?: StreamedLog;
  readonly credential: Credential;
  /** Called when the upstream refused the account's key and accepted another's in its place. */
  readonly onReplaced: () => void;
}

export class CachedSnapshots {
  readonly #clock: () => number;
  readonly #staleAfterMs: number | undefined;
  readonly #upstream: SnapshotUpstream;
  readonly #cache: SnapshotCache;

  /** @param operation the operation whose records callers share by symbol */
  constructor(
    operation: Operation,
    options: CachedSnapshotsOptions,
    parts: CacheParts,
    create: (options: SnapshotCacheOptions) => SnapshotCache = createSnapshotCache,
  ) {
    const { store, streamed, credential, onReplaced, directory, tuning } = options;
    this.#clock = parts.clock;
    this.#staleAfterMs = tuning?.staleAfterMs;
    this.#upstream = new SnapshotUpstream(operation, parts, credential, onReplaced);
    this.#cache = create({
      store,
      streamed,
      permits: this.#upstream,
      upstream: this.#upstream.fetch,
      clock: parts.clock,
      ...(directory?.listing.snapshots.includes(operation.id) && {
        directory: { store: directory.store, listings: createListings(directory.listing, parts) },
      }),
      options: { ...snapshotPaceOf(operation, parts), ...tuning },
    });
  }

  /** The upstream's failure of the last seconds, if any: the reason why records are missing. */
  recentFailure(): Refusal | undefined {
    return this.#upstream.recentFailure(steadyClock(this.#clock)());
  }

  async ask({ request, valid: { query } }: Pick<AdmittedRequest, 'request' | 'valid'>): Promise<Outcome> {
    const { headers, deadline, caller = anonymousCaller, priority = 'interactive' } = request;
    const directives = readCacheDirectives(headers['cache-control']);
    const outcome = await this.#cache.ask({
      view: viewOf(query),
      symbols: query.find(([name]) => name === 'symbols')?.[1].split(',') ?? [],
      caller: caller.unit,
      priority: priority === 'interactive' ? priority : 'events',
      ...directives,
      ...(deadline !== undefined && { deadline: onSteadyClock(this.#clock, deadline) }),
    });
    const now = steadyClock(this.#clock)();
    if (outcome.kind === 'snapshots') return snapshotsFound(outcome, now, this.#staleAfterMs);
    if (outcome.kind === 'refused') return refused(fromUpstreamError(outcome.error));
    const failure = this.#upstream.recentFailure(now);
    return refused(partialRefusal(outcome, { failure, onlyIfCached: directives.onlyIfCached ?? false, now }));
  }
}

const cacheResults: Readonly<Record<Extract<SnapshotOutcome, { kind: 'snapshots' }>['from'], CacheResult>> = {
  memory: 'hit',
  'own-call': 'miss',
  'other-call': 'collapsed',
};

/** @param staleAfterMs age beyond which a record counts as stale but is still served */
export function snapshotsFound(
  outcome: Extract<SnapshotOutcome, { kind: 'snapshots' }>,
  now: number,
  staleAfterMs = defaultSnapshotOptions.staleAfterMs,
): SnapshotsFound {
  return {
    kind: 'snapshots',
    records: outcome.snapshots.map((snapshot) => {
      // The hash stays with the cached record, because most answers repeat records of earlier answers.
      snapshot.hash ??= hashOf(snapshot.record);
      const { symbol, record: bytes, sentAt, hash } = snapshot;
      return { symbol, bytes, ageMs: ageMsOf(sentAt, now), hash };
    }),
    unknown: outcome.unknown,
    cacheResult: cacheResults[outcome.from],
    ageMs: outcome.ageMs,
    ttlMs: staleAfterMs - outcome.ageMs,
    stale: outcome.stale,
    hasMaxAge: outcome.hasMaxAge,
    pollAfterMs: outcome.pollAfterMs,
  };
}

const recordOf = ({ symbol, record, sentAt }: ServedSnapshot, now: number): SnapshotRecord => ({
  symbol,
  bytes: record,
  ageMs: ageMsOf(sentAt, now),
});

/** Retry-After for a caller over its quota of invalid symbols. */
const overQuotaSeconds = 5;
const overQuotaDetail =
  'Too many of the symbols that this key asked for from this network are unknown to the upstream: for a while it gets only what others have asked for.';

/** The refusal when some records did not come in time: it says why, and contains the records that are cached. */
export function partialRefusal(
  { cached, missing, retryAfterMs, isOverQuota }: Extract<SnapshotOutcome, { kind: 'unavailable' }>,
  {
    failure,
    onlyIfCached,
    now,
  }: { readonly failure?: Refusal | undefined; readonly onlyIfCached?: boolean; readonly now: number },
): Refusal {
  const partial = {
    partial: { records: cached.map((snapshot) => recordOf(snapshot, now)), missing },
    retryAfterSeconds: retryAfterMs / 1000,
  };
  // RFC 9111 gives this status to a request for a cached response that is not there.
  if (onlyIfCached) return { code: 'no_fresh_answer', status: 504, ...partial };
  if (isOverQuota)
    return {
      code: 'throttled',
      detail: overQuotaDetail,
      ...partial,
      retryAfterSeconds: overQuotaSeconds,
    };
  if (failure && cached.length === 0) return { ...partial, ...failure };
  return {
    code: 'no_fresh_answer',
    ...partial,
    ...(failure && causedBy(failure)),
    ...(failure?.upstream && { upstream: failure.upstream }),
  };
}
