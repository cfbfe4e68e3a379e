/**
 * Caches responses by canonical request for all clients, as long as the operation's freshness allows: in memory, and in a
 * store for all instances. Concurrent misses for the same key share one fetch across all instances (single flight). While
 * a stale response is refreshed, all other requests receive the stale one.
 */

import type { Caller } from '../../identity/caller.ts';
import { ageMsOf, steadyClock } from '../../kernel/age.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import { defaultSnapshotOptions } from '../snapshots/ports.ts';
import {
  createRecentRefusals,
  createResponseMemory,
  type RecentRefusals,
  type ResponseMemory,
} from './memory.ts';
import type { FreshnessMs } from './request.ts';
import type { ResponseContent, ResponseStore, StoredResponse } from './store.ts';

export interface ResponseCacheOptions {
  readonly store: ResponseStore;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  /** Size limit of the responses in memory. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Time for which a refusal answers further requests. Default 1.5 s. */
  readonly refusalMs?: number;
  /** Time for which a request waits for the fetch of another. Default 4 s. */
  readonly waitMs?: number;
  /** The smallest `max-age` of a client that has an effect. Default 1 s. */
  readonly minMaxAgeMs?: number;
  /** Upstream calls a minute that one caller may cause while a fresh response is cached. Default 20. */
  readonly refreshesPerMinute?: number;
  /** Whether the gateway knows a refusal that was read from the store. Default: it knows each. */
  readonly isRefusal?: (refusal: unknown) => boolean;
  /**
   * Upstream calls of one caller in a minute after which other callers come first. Default 150: half of the limit.
   * Calls that already yield to other callers do not count.
   */
  readonly missesPerCaller?: number;
  /** Upstream calls of one member of a caller in a minute after which others come first. Default 60: a fifth of the limit. */
  readonly missesPerMember?: number;
}

export interface MissLimit {
  readonly name?: string;
  readonly size: number;
}

export interface ResponseCall {
  readonly key: string;
  readonly freshness: FreshnessMs;
  /** Refreshes count against the unit, misses against the member first. */
  readonly caller: Caller;
  /**
   * Upstream limits that a miss counts against, the narrowest first. The limit without a name is the one for most misses;
   * another one has a name, and `size` is its share of the first. Default: the one without a name. If the list is empty,
   * no caller comes before another.
   */
  readonly limits?: readonly MissLimit[];
  /**
   * Fetches from the upstream: permit, signature, request, answer. Never rejects.
   *
   * @param isOverQuota whether all other callers come before this one
   */
  readonly fetch: (isOverQuota: boolean) => Promise<FetchedResponse>;
  /** Longest duration of `fetch`, in milliseconds. */
  readonly fetchMs: number;
  readonly maxAgeMs?: number | undefined;
  readonly maxStaleMs?: number | undefined;
  readonly onlyIfCached?: true;
  /** Time at which the client stops waiting, by the cache's clock. */
  readonly deadline?: number;
}

/**
 * Result of `fetch`. `isPrivate`: no other request may receive it, because the fetching request ran out of time, or because
 * the response belongs to another account. `askedAt`: when the request was sent, if it had to wait; default: when `fetch`
 * was called.
 */
export type FetchedResponse = ResponseContent & { readonly isPrivate?: true; readonly askedAt?: number };

/** Origin of a response. `own`: this request fetched it; `other`: another request fetched it meanwhile. */
type ResponseSource = 'memory' | 'store' | 'own' | 'other';

export type ResponseOutcome =
  | {
      readonly kind: 'answer' | 'refused';
      readonly answer: StoredResponse;
      readonly ageMs: number;
      /** Remaining freshness in milliseconds; below zero when the response is stale. */
      readonly ttlMs: number;
      readonly from: ResponseSource;
    }
  /** Nothing is cached, and the upstream returned nothing in time. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number };

export interface ResponseCache {
  ask(call: ResponseCall): Promise<ResponseOutcome>;
}

const firstNapMs = 40;
const maxNapMs = 250;
/** Pause after a failure of the store; without it each request would wait for the store's time-out. */
const storePauseMs = 1000;
/** A response fetched further in the future than this comes from an instance with a wrong clock: its age is unknown. */
const maxAheadMs = 1000;

interface FetchedAnswer {
  readonly answer: StoredResponse;
  readonly isPrivate: boolean;
}

type CacheSettings = Required<Omit<ResponseCacheOptions, 'maxBytes'>>;

/** Whether the response is cached. One that is never fresh serves only the requests that arrive while it is fetched. */
const isKept = ({ freshness: { freshMs, staleMs } }: ResponseCall): boolean => freshMs + staleMs > 0;

const withoutMaxAge = ({ maxAgeMs: _, ...call }: ResponseCall): ResponseCall => call;

/**
 * @example
 * const cache = createResponseCache({ store: createMemoryResponseStore() });
 * const outcome = await cache.ask({
 *   key: await responseKey('getCompanyProfile', query, ''),
 *   freshness: { freshMs: 5000, staleMs: 10_000 },
 *   caller: { unit: 'app' },
 *   fetch: async () => ({ kind: 'answer', body: await fetchBody() }),
 *   fetchMs: 3000,
 * });
 */
export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { maxBytes = 32 * 1024 * 1024, ...settings } = options;
  return new SharedResponses(
    {
      sleep: sleepWithTimer,
      refusalMs: 1500,
      waitMs: 4000,
      minMaxAgeMs: defaultSnapshotOptions.minMaxAgeMs,
      refreshesPerMinute: defaultSnapshotOptions.refreshesPerMinute,
      isRefusal: () => true,
      missesPerCaller: 150,
      missesPerMember: 60,
      ...settings,
      clock: steadyClock(settings.clock ?? Date.now),
    },
    createResponseMemory(maxBytes),
  );
}

class SharedResponses implements ResponseCache {
  readonly #settings: CacheSettings;
  readonly #memory: ResponseMemory;
  readonly #refusals: RecentRefusals;
  /** Running fetches by key, one for all requests of this instance. */
  readonly #fetches = new Map<string, Promise<FetchedAnswer>>();
  #storeAwayUntil = Number.NEGATIVE_INFINITY;

  constructor(settings: CacheSettings, memory: ResponseMemory) {
    this.#settings = settings;
    this.#memory = memory;
    this.#refusals = createRecentRefusals(settings.refusalMs);
  }

  async ask(call: ResponseCall): Promise<ResponseOutcome> {
    const now = this.#settings.clock();
    const cached = this.#memory.get(call.key);
    if (cached && this.#isFresh(call, cached, now)) return this.#outcome(call, cached, 'memory');
    const refusal = this.#refusals.get(call.key, now);
    if (!refusal) return this.#search(call, cached, now);
    const plain = withoutMaxAge(call);
    return this.#outcome(plain, cached && this.#isUsable(plain, cached, now) ? cached : refusal, 'memory');
  }

  /** Looks into the store, waits for the fetch of another request, or fetches. */
  async #search(
    asked: ResponseCall,
    cached: StoredResponse | undefined,
    arrived: number,
  ): Promise<ResponseOutcome> {
    const { clock, sleep, waitMs } = this.#settings;
    const { key, deadline = Number.POSITIVE_INFINITY, fetchMs } = asked;
    const end = Math.min(arrived + waitMs, deadline);
    let call = asked;
    let best = cached;
    let isFirst = true;
    const canStop = () => this.#isUsable(call, best, clock()) || clock() >= end;
    for (let napMs = firstNapMs; ; napMs = Math.min(maxNapMs, napMs * 1.5)) {
      const nap = () => sleep(Math.min(napMs, Math.max(1, end - clock())));
      const running = this.#fetches.get(key);
      if (running && !call.onlyIfCached) {
        if (canStop()) break;
        const fetched = await Promise.race([running, nap()]);
        // A private response belongs to the other request: it shows nothing about this one.
        if (fetched && !fetched.isPrivate) return this.#fetchedOutcome(call, fetched, best, 'other');
        continue;
      }
      if (isKept(call)) best = await this.#readNewer(key, best);
      if (best && this.#isFresh(call, best, clock()))
        return this.#outcome(call, best, isFirst ? 'store' : 'other');
      if (call.onlyIfCached) break;
      if (isFirst) call = await this.#withinQuota(asked, best);
      isFirst = false;
      const now = clock();
      if (best && this.#isFresh(call, best, now)) return this.#outcome(call, best, 'store');
      const { store } = this.#settings;
      // A fetch whose answer is not cached serves no other instance, and needs no lease.
      const acquired = isKept(call)
        ? await this.#tryStore(() => store.lease(key, now, now + fetchMs))
        : undefined;
      // Another request of this instance began a fetch meanwhile. If the store fails, no lease shows that.
      if (this.#fetches.has(key)) continue;
      // Without a store there is no other instance to wait for.
      if (acquired !== false)
        return this.#fetchedOutcome(call, await this.#fetchOnce(call, best), best, 'own');
      if (canStop()) break;
      await nap();
    }
    // A client that wants a newer one gets this one, too, because none can be had: the answer states its age.
    const plain = withoutMaxAge(asked);
    if (best && this.#isUsable(plain, best, clock())) return this.#outcome(plain, best, 'store');
    return { kind: 'unavailable', retryAfterMs: 1000 };
  }

  /** Prefers a usable old response to a refusal. */
  #fetchedOutcome(
    call: ResponseCall,
    { answer }: FetchedAnswer,
    best: StoredResponse | undefined,
    from: 'own' | 'other',
  ): ResponseOutcome {
    const plain = withoutMaxAge(call);
    const isOldBetter =
      answer.kind === 'refused' && best && this.#isUsable(plain, best, this.#settings.clock());
    return isOldBetter ? this.#outcome(plain, best, 'store') : this.#outcome(call, answer, from);
  }

  #outcome(call: ResponseCall, answer: StoredResponse, from: ResponseSource): ResponseOutcome {
    const ageMs = ageMsOf(answer.askedAt, this.#settings.clock());
    return { kind: answer.kind, answer, ageMs, ttlMs: call.freshness.freshMs - ageMs, from };
  }

  #isFresh(call: ResponseCall, answer: StoredResponse, now: number): boolean {
    const { refusalMs, minMaxAgeMs } = this.#settings;
    const { freshness, maxAgeMs = Number.POSITIVE_INFINITY } = call;
    const limitMs = answer.kind === 'refused' ? refusalMs : Math.max(minMaxAgeMs, maxAgeMs);
    return ageMsOf(answer.askedAt, now) <= Math.min(freshness.freshMs, limitMs);
  }

  /** Whether a response may be returned while another request refreshes it, or when none can. */
  #isUsable(call: ResponseCall, answer: StoredResponse | undefined, now: number): boolean {
    if (answer?.kind !== 'answer' || call.maxAgeMs !== undefined) return false;
    const { freshMs, staleMs } = call.freshness;
    const maxStaleMs = Math.min(staleMs, call.maxStaleMs ?? Number.POSITIVE_INFINITY);
    return ageMsOf(answer.askedAt, now) <= freshMs + maxStaleMs;
  }

  #fetchOnce(call: ResponseCall, old: StoredResponse | undefined): Promise<FetchedAnswer> {
    const fetched = this.#fetch(call, old).finally(() => this.#fetches.delete(call.key));
    this.#fetches.set(call.key, fetched);
    return fetched;
  }

  async #fetch(call: ResponseCall, old: StoredResponse | undefined): Promise<FetchedAnswer> {
    const { store, clock, refusalMs } = this.#settings;
    const { key, fetch, freshness } = call;
    const isOverQuota = await this.#isOverQuota(call);
    const started = clock();
    const { isPrivate = false, askedAt = started, ...content } = await fetch(isOverQuota);
    const answer = { ...content, askedAt };
    if (!isKept(call)) return { answer, isPrivate };
    if (isPrivate) await this.#tryStore(() => store.release(key, clock()));
    else if (answer.kind === 'answer') {
      this.#memory.put(key, answer);
      await this.#tryStore(() => store.write(key, answer, askedAt + freshness.freshMs + freshness.staleMs));
    } else {
      this.#refusals.put(key, answer, clock());
      // A refusal does not replace a usable response; the lease, kept for a moment, holds requests off the upstream.
      if (this.#isUsable(withoutMaxAge(call), old, clock()))
        await this.#tryStore(() => store.release(key, askedAt + refusalMs));
      else await this.#tryStore(() => store.write(key, answer, askedAt + refusalMs));
    }
    return { answer, isPrivate };
  }

  /**
   * Whether other callers come first. A member with too many misses is over its quota alone, and uses no more of the quota
   * that it shares with the other members of its unit.
   */
  async #isOverQuota({ caller, limits = [{ size: 1 }] }: ResponseCall): Promise<boolean> {
    for (const limit of limits) if (await this.#isOverQuotaOf(limit, caller)) return true;
    return false;
  }

  async #isOverQuotaOf({ name, size }: MissLimit, { unit, member }: Caller): Promise<boolean> {
    const { store, clock, missesPerMember, missesPerCaller } = this.#settings;
    const kind = name === undefined ? 'misses' : `misses-${name}`;
    const isUsedUp = async (account: string, quota: number) => {
      const max = Math.max(1, Math.floor(quota * size));
      return (await this.#tryStore(() => store.countUse(`${kind}/${account}`, clock(), max))) === false;
    };
    if (member !== undefined && (await isUsedUp(`${unit}/${member}`, missesPerMember))) return true;
    return isUsedUp(unit, missesPerCaller);
  }

  /** Charges the refresh of a fresh response to the caller. Over the quota, `max-age` has no effect. */
  async #withinQuota(call: ResponseCall, best: StoredResponse | undefined): Promise<ResponseCall> {
    const { store, clock, refreshesPerMinute } = this.#settings;
    const plain = withoutMaxAge(call);
    if (call.maxAgeMs === undefined || !best || !this.#isFresh(plain, best, clock())) return call;
    const account = `wishes/${call.caller.unit}`;
    const isWithin = await this.#tryStore(() => store.countUse(account, clock(), refreshesPerMinute));
    return isWithin === false ? plain : call;
  }

  /** Reads the store's response. Returns `best` if the store's is no newer, has an unknown refusal or a wrong clock. */
  async #readNewer(key: string, best: StoredResponse | undefined): Promise<StoredResponse | undefined> {
    const { store, clock, isRefusal } = this.#settings;
    const stored = await this.#tryStore(() => store.read(key));
    if (!stored || stored.askedAt > clock() + maxAheadMs) return best;
    if (stored.kind === 'refused' && !isRefusal(stored.refusal)) return best;
    if (stored.askedAt <= (best?.askedAt ?? 0)) return best;
    this.#memory.put(key, stored);
    return stored;
  }

  /** Runs work on the store; undefined also when the store fails or pauses after a failure. */
  async #tryStore<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { clock } = this.#settings;
    if (clock() < this.#storeAwayUntil) return undefined;
    try {
      return await work();
    } catch {
      this.#storeAwayUntil = clock() + storePauseMs;
      return undefined;
    }
  }
}
