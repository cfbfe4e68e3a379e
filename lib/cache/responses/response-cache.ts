/**
 * Caches responses by canonical request for all clients, as long as the operation's freshness allows: in memory, and in a
 * store for all instances. Concurrent misses for the same key share one fetch across all instances (single flight). While
 * a stale response is refreshed, all other requests receive the stale one.
 */

import { ageMsOf, steadyClock } from '../../kernel/age.ts';
import { createByteBounded } from '../../kernel/bounded-map.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import { defaultSnapshotOptions } from '../snapshots/ports.ts';
import { isCached, isFresh, isUsable, type ResponseCall, refusalMs, withoutMaxAge } from './request.ts';
import { type ResponseStore, StoreBreaker, type StoredResponse } from './store.ts';

export interface ResponseCacheOptions {
  readonly store: ResponseStore;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  /** Size limit of the responses in memory. Default 32 MiB. */
  readonly maxBytes?: number;
  /** The smallest `max-age` of a client that has an effect. Default 1 s. */
  readonly minMaxAgeMs?: number;
  /** Upstream calls a minute that one caller may cause while a fresh response is cached. Default 20. */
  readonly refreshesPerMinute?: number;
  /** Whether the gateway knows a refusal that was read from the store. Default: it knows each. */
  readonly isRefusal?: (refusal: unknown) => boolean;
}

/** A response in memory or in the store, if there is one. */
type Known = StoredResponse | undefined;

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

/** Longest wait of a request for the fetch of another. */
const waitMs = 4000;
const firstNapMs = 40;
const maxNapMs = 250;
/** A response fetched further in the future than this comes from an instance with a wrong clock: its age is unknown. */
const maxAheadMs = 1000;
/**
 * Upstream calls of one caller in a minute after which other callers come first: half of the limit. Calls that already
 * yield to other callers do not count.
 */
const missesPerCaller = 150;
/** Upstream calls of one member of a caller in a minute after which others come first: a fifth of the limit. */
const missesPerMember = 60;

/** One instance of the cache. */
interface Instance extends Required<Omit<ResponseCacheOptions, 'maxBytes'>> {
  readonly memory: ResponseMemory;
  readonly breaker: StoreBreaker;
  /** Running fetches by key, one for all requests of this instance. */
  readonly fetches: Map<string, Promise<Fetched>>;
}

interface Fetched {
  readonly response: StoredResponse;
  readonly isPrivate: boolean;
}

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
  const { minMaxAgeMs, refreshesPerMinute } = defaultSnapshotOptions;
  const clock = steadyClock(options.clock ?? Date.now);
  const instance: Instance = {
    sleep: sleepWithTimer,
    minMaxAgeMs,
    refreshesPerMinute,
    isRefusal: () => true,
    ...options,
    clock,
    memory: new ResponseMemory(options.maxBytes ?? 32 * 1024 * 1024),
    breaker: new StoreBreaker(clock),
    fetches: new Map(),
  };
  return { ask: (call) => ask(instance, call) };
}

async function ask(instance: Instance, call: ResponseCall): Promise<ResponseOutcome> {
  const { memory, clock, minMaxAgeMs } = instance;
  const now = clock();
  const cached = memory.get(call.key);
  if (cached && isFresh(call, cached, minMaxAgeMs, now)) return outcomeOf(instance, call, cached, 'memory');
  const refusal = memory.refusal(call.key, now);
  if (!refusal) return search(instance, call, cached);
  const plain = withoutMaxAge(call);
  return outcomeOf(instance, plain, isUsable(plain, cached, now) ? cached : refusal, 'memory');
}

/** Looks into the store, waits for the fetch of another request, or fetches. */
async function search(instance: Instance, asked: ResponseCall, cached: Known): Promise<ResponseOutcome> {
  const { store, breaker, fetches, clock, sleep, minMaxAgeMs } = instance;
  const { key, deadline = Number.POSITIVE_INFINITY, fetchMs } = asked;
  const end = Math.min(clock() + waitMs, deadline);
  let call = asked;
  let best = cached;
  let isFirst = true;
  const canStop = () => isUsable(call, best, clock()) || clock() >= end;
  for (let napMs = firstNapMs; ; napMs = Math.min(maxNapMs, napMs * 1.5)) {
    const nap = () => sleep(Math.min(napMs, Math.max(1, end - clock())));
    const running = fetches.get(key);
    if (running && !call.onlyIfCached) {
      if (canStop()) break;
      const fetched = await Promise.race([running, nap()]);
      // A private response belongs to the other request: it shows nothing about this one.
      if (fetched && !fetched.isPrivate) return fetchedOutcome(instance, call, fetched, best, 'other');
      continue;
    }
    if (isCached(call)) best = await readNewer(instance, key, best);
    if (best && isFresh(call, best, minMaxAgeMs, clock()))
      return outcomeOf(instance, call, best, isFirst ? 'store' : 'other');
    if (call.onlyIfCached) break;
    if (isFirst) call = await withinQuota(instance, asked, best);
    isFirst = false;
    const now = clock();
    if (best && isFresh(call, best, minMaxAgeMs, now)) return outcomeOf(instance, call, best, 'store');
    // A fetch whose response is not cached serves no other instance, and needs no lease.
    const acquired = isCached(call)
      ? await breaker.run(() => store.lease(key, now, now + fetchMs))
      : undefined;
    // Another request of this instance began a fetch meanwhile. If the store fails, no lease shows that.
    if (fetches.has(key)) continue;
    // Without a store there is no other instance to wait for.
    if (acquired !== false)
      return fetchedOutcome(instance, call, await fetchOnce(instance, call, best), best, 'own');
    if (canStop()) break;
    await nap();
  }
  // A client that wants a newer one gets this one, too, because none can be had: the answer states its age.
  const plain = withoutMaxAge(asked);
  if (isUsable(plain, best, clock())) return outcomeOf(instance, plain, best, 'store');
  return { kind: 'unavailable', retryAfterMs: 1000 };
}

/** Prefers a usable old response to a refusal. */
function fetchedOutcome(
  instance: Instance,
  call: ResponseCall,
  { response }: Fetched,
  best: Known,
  from: 'own' | 'other',
): ResponseOutcome {
  const plain = withoutMaxAge(call);
  return response.kind === 'refused' && isUsable(plain, best, instance.clock())
    ? outcomeOf(instance, plain, best, 'store')
    : outcomeOf(instance, call, response, from);
}

function outcomeOf(
  { clock }: Instance,
  { freshness }: ResponseCall,
  answer: StoredResponse,
  from: ResponseSource,
): ResponseOutcome {
  const ageMs = ageMsOf(answer.askedAt, clock());
  return { kind: answer.kind, answer, ageMs, ttlMs: freshness.freshMs - ageMs, from };
}

function fetchOnce(instance: Instance, call: ResponseCall, old: Known): Promise<Fetched> {
  const { fetches } = instance;
  const fetched = fetchAndKeep(instance, call, old).finally(() => fetches.delete(call.key));
  fetches.set(call.key, fetched);
  return fetched;
}

async function fetchAndKeep(instance: Instance, call: ResponseCall, old: Known): Promise<Fetched> {
  const { store, breaker, clock, memory } = instance;
  const { key, fetch, freshness } = call;
  const isOver = await isOverQuota(instance, call);
  const started = clock();
  const { isPrivate = false, askedAt = started, ...content } = await fetch(isOver);
  const response = { ...content, askedAt };
  if (!isCached(call)) return { response, isPrivate };
  if (isPrivate) await breaker.run(() => store.release(key, clock()));
  else if (response.kind === 'answer') {
    memory.put(key, response);
    await breaker.run(() => store.write(key, response, askedAt + freshness.freshMs + freshness.staleMs));
  } else {
    memory.putRefusal(key, response, clock());
    // A refusal does not replace a usable response; the lease, kept for a moment, holds requests off the upstream.
    if (isUsable(withoutMaxAge(call), old, clock()))
      await breaker.run(() => store.release(key, askedAt + refusalMs));
    else await breaker.run(() => store.write(key, response, askedAt + refusalMs));
  }
  return { response, isPrivate };
}

/**
 * Whether other callers come first. A member with too many misses is over its quota alone, and uses no more of the quota
 * that it shares with the other members of its unit.
 */
async function isOverQuota(
  instance: Instance,
  { caller: { unit, member }, limits = [{ size: 1 }] }: ResponseCall,
): Promise<boolean> {
  for (const { name, size } of limits) {
    const kind = name === undefined ? 'misses' : `misses-${name}`;
    const isUsedUp = (account: string, quota: number) =>
      countsOver(instance, `${kind}/${account}`, Math.max(1, Math.floor(quota * size)));
    if (member !== undefined && (await isUsedUp(`${unit}/${member}`, missesPerMember))) return true;
    if (await isUsedUp(unit, missesPerCaller)) return true;
  }
  return false;
}

/** Charges the refresh of a fresh response to the caller. Over the quota, `max-age` has no effect. */
async function withinQuota(instance: Instance, call: ResponseCall, best: Known): Promise<ResponseCall> {
  const { clock, minMaxAgeMs, refreshesPerMinute } = instance;
  const plain = withoutMaxAge(call);
  if (call.maxAgeMs === undefined || !best || !isFresh(plain, best, minMaxAgeMs, clock())) return call;
  const isOver = await countsOver(instance, `wishes/${call.caller.unit}`, refreshesPerMinute);
  return isOver ? plain : call;
}

/** Counts a use in this minute; true when `max` are counted already. If the store fails, none is over. */
async function countsOver(
  { store, breaker, clock }: Instance,
  account: string,
  max: number,
): Promise<boolean> {
  return (await breaker.run(() => store.countUse(account, clock(), max))) === false;
}

/** Reads the store's response. Returns `best` if the store's is no newer, has an unknown refusal or a wrong clock. */
async function readNewer(instance: Instance, key: string, best: Known): Promise<Known> {
  const { store, breaker, memory, clock, isRefusal } = instance;
  const stored = await breaker.run(() => store.read(key));
  if (!stored || stored.askedAt > clock() + maxAheadMs) return best;
  if (stored.kind === 'refused' && !isRefusal(stored.refusal)) return best;
  if (stored.askedAt <= (best?.askedAt ?? 0)) return best;
  memory.put(key, stored);
  return stored;
}

/** Share of the memory for responses requested once. */
const onceShare = 0.2;
/** Bytes of a cached response besides its body. */
const overheadBytes = 300;

const sizeOf = (response: StoredResponse): number =>
  overheadBytes +
  (response.kind === 'answer' ? response.body.byteLength : JSON.stringify(response.refusal ?? 0).length);

/**
 * Responses in an instance's memory. Responses requested once have a space of their own, so that a stream of unusual
 * requests cannot evict the responses that many clients use. Recent refusals are kept apart, because they do not replace
 * cached responses.
 */
class ResponseMemory {
  readonly #once;
  readonly #again;
  /** In the order in which they expire. */
  readonly #refusals = new Map<string, { readonly refusal: StoredResponse; readonly until: number }>();

  constructor(maxBytes: number) {
    this.#once = createByteBounded(maxBytes * onceShare, sizeOf);
    this.#again = createByteBounded(maxBytes * (1 - onceShare), sizeOf);
  }

  get(key: string): Known {
    const response = this.#again.take(key) ?? this.#once.take(key);
    if (response) this.#again.put(key, response);
    return response;
  }

  put(key: string, response: StoredResponse): void {
    if (this.#again.take(key)) this.#again.put(key, response);
    else this.#once.put(key, response);
  }

  refusal(key: string, now: number): Known {
    const recent = this.#refusals.get(key);
    return recent && recent.until >= now ? recent.refusal : undefined;
  }

  putRefusal(key: string, refusal: StoredResponse, now: number): void {
    for (const [old, { until }] of this.#refusals) {
      if (until >= now) break;
      this.#refusals.delete(old);
    }
    this.#refusals.delete(key);
    this.#refusals.set(key, { refusal, until: now + refusalMs });
  }
}
