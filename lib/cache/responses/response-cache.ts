/**
 * Answers that many clients can share: kept by canonical request for as long as the operation's freshness
 * allows, in memory and in a store for all instances. Of equal requests that nobody has an answer to, one asks
 * the upstream, over all instances; of those that have an old one, one asks and all others get the old one.
 */

import type { Caller } from '../../identity/caller.ts';
import type { FreshnessMs } from './freshness.ts';
import { createResponseMemory } from './memory.ts';
import { createRecentRefusals } from './recent-refusals.ts';
import type { ResponseContent, ResponseStore, StoredResponse } from './store.ts';

export interface ResponseCacheOptions {
  readonly store: ResponseStore;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  /** For answers in memory. Default 32 MiB. */
  readonly mostBytes?: number;
  /** How long a refusal stands for the next one. Default 1.5 s. */
  readonly refusalMs?: number;
  /** How long a request waits for another's answer. Default 4 s. */
  readonly waitMs?: number;
  /** The least `max-age` of a client that is honoured. Default 1 s. */
  readonly minMaxAgeMs?: number;
  /** Upstream calls a minute that one caller may cause while a fresh answer is there. Default 20. */
  readonly refreshesPerMinute?: number;
  /** Whether a refusal that was read from the store is one that the gateway knows. Default: each is. */
  readonly isRefusal?: (refusal: unknown) => boolean;
  /**
   * Upstream calls a minute of one caller beyond which those of others come first. Default 150: half of the limit.
   * Those that are behind the others already do not count.
   */
  readonly missesPerCaller?: number;
  /** The same for one member of a caller. Default 60: a fifth of the limit. */
  readonly missesPerMember?: number;
}

export interface ResponseCall {
  readonly key: string;
  readonly freshness: FreshnessMs;
  /** Who asks; wishes are counted by the unit, and misses by the member before. */
  readonly caller: Caller;
  /**
   * Asks the upstream: draws a permission, signs, sends, reads. Never rejects.
   *
   * @param isPatient whether all others come first
   */
  readonly fetch: (isPatient: boolean) => Promise<FetchedResponse>;
  /** How long that takes at most, in milliseconds. */
  readonly fetchMs: number;
  readonly maxAgeMs?: number;
  readonly maxStaleMs?: number;
  readonly onlyIfCached?: true;
  /** When the client stops waiting, by the clock. */
  readonly deadline?: number;
}

/** `isOwn`: the cache does not share it: the request ran out of time, or the answer is another account's. */
export type FetchedResponse = ResponseContent & { readonly isOwn?: true };

export type ResponseOutcome =
  | {
      readonly kind: 'answer' | 'refused';
      readonly answer: StoredResponse;
      readonly ageMs: number;
      /** How long it is still fresh, in milliseconds; below zero when it is not. */
      readonly ttlMs: number;
      /** `own` and `other`: this request, or another one, asked the upstream meanwhile. */
      readonly from: 'memory' | 'store' | 'own' | 'other';
    }
  /** Nothing is there, and it could not be had in time. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number };

export interface ResponseCache {
  ask(call: ResponseCall): Promise<ResponseOutcome>;
}

const firstNapMs = 40;
const longestNapMs = 250;
/** After a failure of the store it is left alone for so long. */
const awayMs = 1000;
/** What was asked for further ahead than this was written by a clock that is wrong. */
const mostAheadMs = 15_000;

interface Fetched {
  readonly answer: StoredResponse;
  /** Only the request that fetched it gets it. */
  readonly isOwn: boolean;
}

const withoutWish = ({ maxAgeMs: _, ...call }: ResponseCall): ResponseCall => call;

export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { store, clock = Date.now, mostBytes = 32 * 1024 * 1024, refusalMs = 1500 } = options;
  const { waitMs = 4000, minMaxAgeMs = 1000, refreshesPerMinute = 20, isRefusal = () => true } = options;
  const { missesPerCaller = 150, missesPerMember = 60 } = options;
  const sleep = options.sleep ?? ((ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)));
  const kept = createResponseMemory(mostBytes);
  const fetching = new Map<string, Promise<Fetched>>();
  const refusals = createRecentRefusals(refusalMs);
  let awayUntil = Number.NEGATIVE_INFINITY;

  /** Undefined, too, when the store cannot be asked. */
  async function tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (clock() < awayUntil) return undefined;
    try {
      return await work();
    } catch {
      awayUntil = clock() + awayMs;
      return undefined;
    }
  }

  function ageLimit({ freshness: { freshMs }, maxAgeMs }: ResponseCall, { kind }: StoredResponse): number {
    if (kind === 'refused') return Math.min(refusalMs, freshMs);
    return maxAgeMs === undefined ? freshMs : Math.min(freshMs, Math.max(minMaxAgeMs, maxAgeMs));
  }

  const isFresh = (call: ResponseCall, answer: StoredResponse | undefined, now: number) =>
    answer !== undefined && now - answer.askedAt <= ageLimit(call, answer);

  /** Whether it may be given while somebody asks anew, or nobody can. */
  function isUsable(call: ResponseCall, answer: StoredResponse | undefined, now: number) {
    if (answer?.kind !== 'answer') return false;
    const { freshMs, staleMs } = call.freshness;
    const most = call.maxStaleMs === undefined ? staleMs : Math.min(staleMs, call.maxStaleMs);
    return call.maxAgeMs === undefined && now - answer.askedAt <= freshMs + most;
  }

  function outcome(
    call: ResponseCall,
    answer: StoredResponse,
    from: 'memory' | 'store' | 'own' | 'other',
  ): ResponseOutcome {
    const ageMs = Math.max(0, clock() - answer.askedAt);
    return { kind: answer.kind, answer, ageMs, ttlMs: call.freshness.freshMs - ageMs, from };
  }

  /** Once for all who ask this instance meanwhile. */
  function fetchOnce(call: ResponseCall, old?: StoredResponse): Promise<Fetched> {
    const run = fetchNow(call, old).finally(() => fetching.delete(call.key));
    fetching.set(call.key, run);
    return run;
  }

  async function fetchNow(call: ResponseCall, old?: StoredResponse): Promise<Fetched> {
    const { key, fetch, freshness } = call;
    const isPatient = await mustBePatient(call);
    const askedAt = clock();
    const { isOwn = false, ...content } = await fetch(isPatient);
    const answer = { ...content, askedAt };
    if (isOwn) await tried(() => store.release(key, clock()));
    else if (answer.kind === 'answer') {
      kept.put(key, answer);
      await tried(() => store.write(key, answer, askedAt + freshness.freshMs + freshness.staleMs));
    } else {
      refusals.put(key, answer, clock());
      // It does not take the place of an answer that may still be shown; nobody asks again for a moment.
      if (isUsable(withoutWish(call), old, clock()))
        await tried(() => store.release(key, askedAt + refusalMs));
      else await tried(() => store.write(key, answer, askedAt + refusalMs));
    }
    return { answer, isOwn };
  }

  /**
   * Whether others come first. A member with too many misses is held back alone: it takes nothing more of what its
   * neighbours in the unit have together.
   */
  async function mustBePatient({ caller: { unit, member } }: ResponseCall): Promise<boolean> {
    const isSpent = async (account: string, most: number) =>
      (await tried(() => store.countUse(`misses/${account}`, clock(), most))) === false;
    if (member !== undefined && (await isSpent(`${unit}/${member}`, missesPerMember))) return true;
    return isSpent(unit, missesPerCaller);
  }

  /** What the store has, unless this version cannot read it or a wrong clock wrote it. */
  async function readShared(key: string): Promise<StoredResponse | undefined> {
    const shared = await tried(() => store.read(key));
    if (!shared || shared.askedAt > clock() + mostAheadMs) return undefined;
    return shared.kind === 'answer' || isRefusal(shared.refusal) ? shared : undefined;
  }

  /** What a client wishes beyond what is fresh, he has a share of; without it he has what is fresh. */
  async function granted(call: ResponseCall, best: StoredResponse | undefined): Promise<ResponseCall> {
    const plain = withoutWish(call);
    if (call.maxAgeMs === undefined || !isFresh(plain, best, clock())) return call;
    const may = await tried(() => store.countUse(`wishes/${call.caller.unit}`, clock(), refreshesPerMinute));
    return may === false ? plain : call;
  }

  return {
    async ask(asked) {
      const { key, deadline = Number.POSITIVE_INFINITY, fetchMs } = asked;
      const plain = withoutWish(asked);
      const arrived = clock();
      const end = Math.min(arrived + waitMs, deadline);
      let call = asked;
      let best = kept.get(key);
      if (best && isFresh(call, best, arrived)) return outcome(call, best, 'memory');
      const refusal = refusals.get(key, arrived);
      if (refusal) return outcome(plain, best && isUsable(plain, best, arrived) ? best : refusal, 'memory');

      let isFirst = true;
      for (let napMs = firstNapMs; ; napMs = Math.min(longestNapMs, napMs * 1.5)) {
        const nap = () => sleep(Math.min(napMs, Math.max(1, end - clock())));
        const running = fetching.get(key);
        if (running && !call.onlyIfCached) {
          if (isUsable(call, best, clock()) || clock() >= end) break;
          const fetched = await Promise.race([running, nap()]);
          // What only its own request was refused for is no answer to this one.
          if (fetched && !fetched.isOwn) return shown(fetched.answer, 'other');
          continue;
        }
        const shared = await readShared(key);
        if (shared && shared.askedAt > (best?.askedAt ?? 0)) {
          best = shared;
          kept.put(key, shared);
        }
        if (best && isFresh(call, best, clock())) return outcome(call, best, isFirst ? 'store' : 'other');
        if (call.onlyIfCached) break;
        if (isFirst) call = await granted(asked, best);
        isFirst = false;
        const now = clock();
        if (best && isFresh(call, best, now)) return outcome(call, best, 'store');
        const isMine = await tried(() => store.lease(key, now, now + fetchMs));
        // Somebody here was faster, which without a store nobody else would have said.
        if (fetching.has(key)) continue;
        // Without a store nobody else can be waited for.
        if (isMine !== false) return shown((await fetchOnce(call, best)).answer, 'own');
        if (isUsable(call, best, clock()) || clock() >= end) break;
        await nap();
      }
      // Of a wish that cannot be had, too: the answer says how old it is.
      if (best && isUsable(plain, best, clock())) return outcome(plain, best, 'store');
      return { kind: 'unavailable', retryAfterMs: 1000 };

      function shown(fetched: StoredResponse, from: 'own' | 'other'): ResponseOutcome {
        const isOldBetter = fetched.kind === 'refused' && best && isUsable(plain, best, clock());
        return isOldBetter && best ? outcome(plain, best, 'store') : outcome(call, fetched, from);
      }
    },
  };
}
