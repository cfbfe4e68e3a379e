/**
 * Quotes by symbol for the account that the secret names: one snapshot cache over the upstream, whose outcomes become the
 * gateway's. When the secret names another account, its requests start with an empty cache. Requests under way finish with
 * the old account; if the upstream refuses the old key, they start again with the new one.
 */

import { readCacheDirectives } from '../../cache/headers.ts';
import {
  createSnapshotCache,
  defaultSnapshotOptions,
  type ServedSnapshot,
  type SnapshotCache,
  type SnapshotCacheOptions,
  type SnapshotOutcome,
  type SnapshotStore,
  type StreamedLog,
  snapshotPartition,
  viewOf,
} from '../../cache/snapshots/index.ts';
import { hashOf } from '../../cache/snapshots/records.ts';
import type { Operation } from '../../catalogue/operation.ts';
import { ageMsOf, onSteadyClock, steadyClock } from '../../kernel/age.ts';
import type { Refusal, SnapshotRecord } from '../../problem.ts';
import { causedBy } from '../../upstream/cause.ts';
import type { AdmittedRequest } from '../admit.ts';
import { anonymousCaller, type CachedReads, type CacheOptions, type CacheParts } from '../cache-options.ts';
import { accountOf } from '../credential.ts';
import type { Credential, CredentialResult } from '../credentials.ts';
import { snapshotPaceOf } from '../limits/operation-limits.ts';
import { type CacheResult, type Outcome, refused, type SnapshotsFound } from '../outcome.ts';
import { createListings, fromUpstreamError, SnapshotUpstream } from './upstream.ts';

/** Answers reads of one account. */
export interface AccountSnapshots {
  ask(read: Pick<AdmittedRequest, 'request' | 'valid' | 'reachNow'>): Promise<Outcome>;
}

interface AccountSnapshotsByName {
  readonly name: string;
  readonly snapshots: AccountSnapshots;
  /** Resolves to the answer, or to undefined when the upstream has come to accept only another account's key. */
  unlessReplaced<T>(answer: Promise<T>): Promise<T | undefined>;
}

/** Most restarts of one request: the secret's current and previous version may alternate, but less often than this. */
const maxChanges = 3;

/**
 * @param operation the operation whose records callers share by symbol
 * @param create creates the cache of one account
 */
export function createSnapshotsByAccount(
  operation: Operation,
  options: Pick<CacheOptions, 'snapshots' | 'streamed' | 'directory' | 'tuning'>,
  parts: Pick<CacheParts, 'credentials'>,
  create: (own: CachedSnapshotsOptions) => AccountSnapshots,
): CachedReads {
  let latest: AccountSnapshotsByName | undefined;

  function open(name: string, credential: Credential): AccountSnapshotsByName {
    let isReplaced = false;
    /** Ends the waits of requests under way. One promise that all race against would keep every answer in memory. */
    const waiting = new Set<() => void>();
    const onReplaced = () => {
      if (latest === account) latest = undefined;
      isReplaced = true;
      for (const leave of waiting) leave();
      waiting.clear();
    };
    function unlessReplaced<T>(answer: Promise<T>): Promise<T | undefined> {
      if (isReplaced) return Promise.resolve(undefined);
      return new Promise((resolve, reject) => {
        const leave = () => resolve(undefined);
        waiting.add(leave);
        answer.then(resolve, reject).finally(() => waiting.delete(leave));
      });
    }
    const { snapshots: storeOf, streamed: logOf, ...shared } = options;
    const partition = snapshotPartition(name, operation);
    const streamed = logOf?.(partition);
    const own = {
      ...shared,
      store: storeOf(partition),
      ...(streamed && { streamed }),
      credential,
      onReplaced,
    };
    const account: AccountSnapshotsByName = { name, snapshots: create(own), unlessReplaced };
    return account;
  }

  async function accountFor(credential: Credential): Promise<AccountSnapshotsByName> {
    const name = await accountOf(credential);
    if (latest?.name !== name) latest = open(name, credential);
    return latest;
  }

  return {
    async ask({ request, valid, credential, reachNow }) {
      let current: CredentialResult = { ok: true, credential };
      for (let changes = 0; current.ok; changes++) {
        const { snapshots, unlessReplaced } = await accountFor(current.credential);
        const answer = snapshots.ask({ request, valid, reachNow });
        const outcome = await (changes < maxChanges ? unlessReplaced(answer) : answer);
        if (outcome) return outcome;
        current = await parts.credentials.forRead();
      }
      return refused({ code: current.code });
    },
  };
}

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
