/**
 * Responses that all clients share, by canonical request, for as long as the operation's freshness allows: in memory,
 * and in a store for all instances. Concurrent misses for the same key share one fetch over all instances (single
 * flight). While a stale response is refreshed, all other requests receive the stale one.
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
  /** For the responses in memory. Default 32 MiB. */
  readonly maxBytes?: number;
  /** How long a refusal answers further requests. Default 1.5 s. */
  readonly refusalMs?: number;
  /** How long a request waits for another's fetch. Default 4 s. */
  readonly waitMs?: number;
  /** The smallest `max-age` of a client that has an effect. Default 1 s. */
  readonly minMaxAgeMs?: number;
  /** Upstream calls a minute that one caller may cause while a fresh response is cached. Default 20. */
  readonly refreshesPerMinute?: number;
  /** Whether a refusal read from the store is one that the gateway knows. Default: each is. */
  readonly isRefusal?: (refusal: unknown) => boolean;
  /**
   * Upstream calls a minute of one caller, after which other callers come first. Default 150: half of the limit.
   * Calls that already come after others do not count.
   */
  readonly missesPerCaller?: number;
  /** The same for one member of a caller. Default 60: a fifth of the limit. */
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
   * The limits of which a miss takes a part of the caller's quota, the narrowest first: the name of another limit than
   * most misses count against, and its size as a part of that one. Default that one alone. With none at all no caller
   * comes before another.
   */
  readonly limits?: readonly MissLimit[];
  /**
   * Asks the upstream: permit, signature, request, answer. Never rejects.
   *
   * @param isOverQuota whether all other callers come first
   */
  readonly fetch: (isOverQuota: boolean) => Promise<FetchedResponse>;
  /** How long that takes at most, in milliseconds. */
  readonly fetchMs: number;
  readonly maxAgeMs?: number | undefined;
  readonly maxStaleMs?: number | undefined;
  readonly onlyIfCached?: true;
  /** When the client stops waiting, by the clock. */
  readonly deadline?: number;
}

/**
 * `isPrivate`: only the request that fetched it may have it, because that request ran out of time, or because the
 * response belongs to another account. `askedAt`: when the request left, if it waited for that; default: when `fetch`
 * was called.
 */
export type FetchedResponse = ResponseContent & { readonly isPrivate?: true; readonly askedAt?: number };

/** `own` and `other`: this request, or another one, fetched it meanwhile. */
export type ResponseSource = 'memory' | 'store' | 'own' | 'other';

export type ResponseOutcome =
  | {
      readonly kind: 'answer' | 'refused';
      readonly answer: StoredResponse;
      readonly ageMs: number;
      /** How long the response stays fresh, in milliseconds; below zero when it is stale. */
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
/** The pause after a failure of the store: each request would wait for its time-out. */
const storePauseMs = 1000;
/** A response fetched further in the future than this comes from an instance with a wrong clock: its age is not known. */
const maxAheadMs = 1000;

interface FetchedAnswer {
  readonly answer: StoredResponse;
  readonly isPrivate: boolean;
}

type Settings = Required<Omit<ResponseCacheOptions, 'maxBytes'>>;

/** What is never fresh serves the requests that arrive while it is fetched, and none after. */
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
  readonly #settings: Settings;
  readonly #memory: ResponseMemory;
  readonly #refusals: RecentRefusals;
  /** By key: one fetch for all requests of this instance. */
  readonly #fetches = new Map<string, Promise<FetchedAnswer>>();
  #storeAwayUntil = Number.NEGATIVE_INFINITY;

  constructor(settings: Settings, memory: ResponseMemory) {
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
        // A private refusal says nothing about this request.
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
      // A fetch whose answer is not kept serves no other instance.
      const acquired = isKept(call)
        ? await this.#tryStore(() => store.lease(key, now, now + fetchMs))
        : undefined;
      // Another request of this instance was faster; without a store the lease does not show it.
      if (this.#fetches.has(key)) continue;
      // Without a store there is no other instance to wait for.
      if (acquired !== false)
        return this.#fetchedOutcome(call, await this.#fetchOnce(call, best), best, 'own');
      if (canStop()) break;
      await nap();
    }
    // Also when the client wants a newer one that cannot be had: the answer names its age.
    const plain = withoutMaxAge(asked);
    if (best && this.#isUsable(plain, best, clock())) return this.#outcome(plain, best, 'store');
    return { kind: 'unavailable', retryAfterMs: 1000 };
  }

  /** A usable old response is better than a refusal. */
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

  /** Whether it may be returned while another request refreshes it, or when no request can. */
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
      // A refusal does not replace a usable response; the lease keeps requests from the upstream for a moment.
      if (this.#isUsable(withoutMaxAge(call), old, clock()))
        await this.#tryStore(() => store.release(key, askedAt + refusalMs));
      else await this.#tryStore(() => store.write(key, answer, askedAt + refusalMs));
    }
    return { answer, isPrivate };
  }

  /**
   * Whether other callers come first. A member with too many misses is over its quota alone, and takes nothing more
   * of the quota that it shares with the other members of its unit.
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

  /** A refresh of a fresh response is charged to the caller; over the quota `max-age` has no effect. */
  async #withinQuota(call: ResponseCall, best: StoredResponse | undefined): Promise<ResponseCall> {
    const { store, clock, refreshesPerMinute } = this.#settings;
    const plain = withoutMaxAge(call);
    if (call.maxAgeMs === undefined || !best || !this.#isFresh(plain, best, clock())) return call;
    const account = `wishes/${call.caller.unit}`;
    const isWithin = await this.#tryStore(() => store.countUse(account, clock(), refreshesPerMinute));
    return isWithin === false ? plain : call;
  }

  /** The store's response, if it is newer, this version can read it, and no wrong clock wrote it. */
  async #readNewer(key: string, best: StoredResponse | undefined): Promise<StoredResponse | undefined> {
    const { store, clock, isRefusal } = this.#settings;
    const stored = await this.#tryStore(() => store.read(key));
    if (!stored || stored.askedAt > clock() + maxAheadMs) return best;
    if (stored.kind === 'refused' && !isRefusal(stored.refusal)) return best;
    if (stored.askedAt <= (best?.askedAt ?? 0)) return best;
    this.#memory.put(key, stored);
    return stored;
  }

  /** Undefined, too, when the store cannot be asked. */
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
