/**
 * One request to the snapshot cache: it reads memory, waits for its misses while that is worth it, and answers.
 * Concurrent misses share one call (single flight), among all instances: a request polls for what others fetched,
 * refreshes when a lease is due, or publishes what it misses and waits.
 */

import { ageMsOf } from '../../kernel/age.ts';
import type { Priority } from '../../limiter/index.ts';
import { fingerprintOf, type SnapshotEntry } from './entries.ts';
import type { Instance } from './instance.ts';
import type { SnapshotMemory } from './memory.ts';
import type { SnapshotOptions, UpstreamError } from './ports.ts';
import type { RefreshRequester } from './refresh.ts';
import { maxSymbolLength, missKey, missMs, type PendingMiss } from './store.ts';
import type { View } from './view.ts';

export interface SnapshotCall {
  readonly view: View;
  /** In the order of the answer; a symbol may occur twice. */
  readonly symbols: readonly string[];
  /** Who asks: refreshes by `max-age` and failed probes count against this caller. */
  readonly caller: string;
  /** `events` when no client waits for the answer: clients come first. Default interactive. */
  readonly priority?: 'interactive' | 'events';
  /** The client wants nothing older, in milliseconds; 0 for `no-cache`. */
  readonly maxAgeMs?: number | undefined;
  /** The client accepts entries this much older than the soft bound without a try for newer ones, in milliseconds. */
  readonly maxStaleMs?: number | undefined;
  /** The client takes what is cached, and waits for nothing. */
  readonly onlyIfCached?: true;
  /** When the client stops waiting, by the clock. */
  readonly deadline?: number;
}

/** An entry as it is at the moment of the outcome; it may be newer a moment later. */
export type ServedSnapshot = Pick<SnapshotEntry, 'symbol' | 'record' | 'hash' | 'sentAt'>;

export type SnapshotOutcome =
  | {
      readonly kind: 'snapshots';
      /** Each requested symbol that exists, in the order of the call. */
      readonly snapshots: readonly ServedSnapshot[];
      /** Of the oldest, in milliseconds. */
      readonly ageMs: number;
      /** Symbols that the upstream does not know. */
      readonly unknown: readonly string[];
      /** Whether all was in memory, or a refresh had to be waited for: this request's own or another's. */
      readonly from: 'memory' | 'own-call' | 'other-call';
      /** Older than the soft bound. */
      readonly stale: boolean;
      /** Whether the client set a `max-age`. */
      readonly hasMaxAge: boolean;
      /** After this time asking again is likely to bring something new. */
      readonly pollAfterMs: number;
    }
  /** The upstream refuses all of the symbols, or the view. */
  | { readonly kind: 'refused'; readonly error: UpstreamError }
  /** Some entries are missing or expired, and could not be refreshed in time. */
  | {
      readonly kind: 'unavailable';
      readonly cached: readonly ServedSnapshot[];
      readonly missing: readonly string[];
      readonly retryAfterMs: number;
      /** The caller's quota of invalid symbols is used up: no more of its symbols are probed for now. */
      readonly isOverQuota: boolean;
    };

export interface SnapshotCache {
  /** Always resolves; waits `waitMs` at most. */
  ask(call: SnapshotCall): Promise<SnapshotOutcome>;
}

/** How old an entry may be for a call that is served without a try for a newer one. */
export function ageLimit(
  { maxAgeMs, maxStaleMs = 0 }: Pick<SnapshotCall, 'maxAgeMs' | 'maxStaleMs'>,
  { staleAfterMs, expireAfterMs, minMaxAgeMs }: SnapshotOptions,
): number {
  if (maxAgeMs !== undefined) return Math.min(staleAfterMs, Math.max(minMaxAgeMs, maxAgeMs));
  return Math.min(expireAfterMs, staleAfterMs + maxStaleMs);
}

export interface ReadResult {
  readonly found: readonly SnapshotEntry[];
  /** Older than wished for, but better than nothing. */
  readonly older: readonly SnapshotEntry[];
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

interface ReadContext {
  readonly memory: SnapshotMemory;
  readonly options: SnapshotOptions;
  readonly now: number;
}

/** @param mayProbe whether the upstream may be asked for a symbol that the directory does not list */
export function readMemory(
  { view, symbols, ...call }: SnapshotCall,
  arrivedAt: number,
  { memory, options, now, mayProbe }: ReadContext & { readonly mayProbe: boolean },
): ReadResult {
  const { entries } = memory.entriesOf(view.id);
  const limit = ageLimit(call, options);
  const found: SnapshotEntry[] = [];
  const older: SnapshotEntry[] = [];
  const missing: string[] = [];
  const unknown: string[] = [];
  for (const symbol of symbols) {
    const entry = entries.get(symbol);
    const ageMs = entry ? Math.max(arrivedAt - entry.sentAt, entry.sentAt - now) : 0;
    if (entry && ageMs <= limit) found.push(entry);
    else if (entry && ageMsOf(entry.sentAt, now) <= options.expireAfterMs) older.push(entry);
    else if (symbol.length > maxSymbolLength || memory.negativeEntry(view.id, symbol, now))
      unknown.push(symbol);
    else if (!mayProbe && memory.isUnlisted(view.id, symbol)) unknown.push(symbol);
    else missing.push(symbol);
  }
  return { found, older, missing, unknown };
}

interface OutcomeContext extends ReadContext {
  readonly isOverQuota: boolean;
  /** When the next probe is due. */
  readonly probeDueAt: number;
  readonly retryAfterMs: number;
}

export function outcomeOf(
  { view, symbols, maxAgeMs }: SnapshotCall,
  { found, older, missing, unknown }: ReadResult,
  from: 'memory' | 'own-call' | 'other-call',
  { memory, options, now, isOverQuota, probeDueAt, retryAfterMs }: OutcomeContext,
): SnapshotOutcome {
  const forbidden = memory.upstream.forbidden(view.id, now);
  if (forbidden && missing.length > 0) return { kind: 'refused', error: forbidden };
  if (missing.length > 0)
    return {
      kind: 'unavailable',
      cached: [...found, ...older],
      missing,
      retryAfterMs: Math.max(retryAfterMs, probeDueAt - now),
      isOverQuota,
    };
  if (unknown.length > 0 && unknown.length === symbols.length) {
    const errors = unknown.map((symbol) => memory.negativeEntry(view.id, symbol, now)?.error);
    const error = errors.find((one) => one);
    if (error) return { kind: 'refused', error };
  }
  const { entries } = memory.entriesOf(view.id);
  const quotes = symbols.flatMap((symbol) => entries.get(symbol) ?? []);
  const ageMs = quotes.reduce((most, { sentAt }) => Math.max(most, ageMsOf(sentAt, now)), 0);
  return {
    kind: 'snapshots',
    snapshots: quotes,
    ageMs,
    unknown,
    from,
    stale: ageMs > options.staleAfterMs,
    hasMaxAge: maxAgeMs !== undefined,
    pollAfterMs: Math.ceil(entries.size / options.maxSymbols) * options.paceMs,
  };
}

/** A refresh needs at least this long. */
export const minRefreshMs = 500;
/** A request that waits looks into memory again after the first of these, and then ever less often. */
const napMs = { first: 30, max: 250 } as const;
/** How long a request whose misses are published leaves the lease to newer requests. */
const patienceMs = 60;

/** What a step did: `refreshed` when this request asked the upstream, `left` when it must not wait any longer. */
export type MissStep = 'polled' | 'refreshed' | 'waited' | 'left';

/** What a request that waits for its misses has done so far. */
export class MissWaiter {
  napMs: number = napMs.first;
  /** Whether the store counts it among the requests that wait. */
  isCounted = false;
  /** Whether one of its steps asked the upstream. */
  hasRefreshed = false;
  lastStep: MissStep | undefined;

  get isNew(): boolean {
    return this.napMs === napMs.first;
  }

  recordStep(step: MissStep): void {
    this.lastStep = step;
    this.hasRefreshed ||= step === 'refreshed';
    this.napMs = step === 'refreshed' ? napMs.first : Math.min(napMs.max, this.napMs * 1.3);
  }
}

export class MissResolver {
  readonly #instance: Instance;
  /** When this instance last published a miss, by `missKey`. */
  readonly #publishedAt = new Map<string, number>();

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  /** One step towards what a request misses. */
  async step(
    misses: readonly PendingMiss[],
    waiter: MissWaiter,
    requester: RefreshRequester,
  ): Promise<MissStep> {
    const { log, memory, schedule, contention, runtime } = this.#instance;
    const { clock, random } = runtime;
    if (waiter.lastStep !== 'polled' && !log.isCurrent(clock()) && !log.isStoreDown(clock())) {
      await log.poll();
      return 'polled';
    }
    const now = clock();
    const flights = log.flights(now);
    const open = misses.filter(
      ({ view, symbol }) =>
        !flights.some(
          (flight) => flight.view === view && flight.fingerprints.includes(fingerprintOf(symbol)),
        ),
    );
    if (open.length > 0 && (await log.catchUp())) return 'polled';
    const isCrowded = log.isCrowded(now);
    const nap = () => this.#nap(waiter.napMs * (0.5 + random()), waiter);
    // An upstream that may be down is asked by one request at a time.
    if (open.length === 0 || (memory.upstream.isFailing && flights.length > 0))
      return isCrowded ? 'left' : nap();
    const unpublished = this.#unpublished(open, now);
    // Of many requests that miss the same, those that are new refresh; the others help if none does.
    const patience = unpublished.length > 0 && waiter.isNew ? 0 : patienceMs * (1 + random());
    const mayShareCall = ({ view, symbol }: PendingMiss) => memory.statusOf(view).mayShareCall(symbol, view);
    const kind = open.some(mayShareCall) ? 'miss' : 'probe';
    const priority = requester.isEventDriven ? 'events' : 'interactive';
    const isDue = now >= schedule.dueAt(kind, priority) + (isCrowded ? 0 : patience);
    const mayTry = !isCrowded || contention.mayTry(log.concurrentStarts);
    if (isDue && requester.deadline - now >= minRefreshMs && mayTry) {
      const result = await this.#instance.refresher.acquire(kind, open, requester);
      contention.record(result);
      if (result === 'acquired') return 'refreshed';
      // Idle: a call in another view is under way already.
      if (!isCrowded) return result === 'idle' ? nap() : 'waited';
    }
    if (unpublished.length > 0 && !log.isStoreDown(now)) await this.#publish(unpublished, now);
    // A request that waits has its instance for itself, and there are not enough of them for all.
    if (isCrowded) return 'left';
    // Not all at the same moment: the first takes what the others miss along.
    const untilDue = Math.max(patience, schedule.dueAt(kind, priority) - clock() + patience);
    const pause = Math.min(untilDue, waiter.napMs) + random() * 10;
    return this.#nap(Math.min(pause, Math.max(1, requester.deadline - now)), waiter);
  }

  /** Misses that were not published lately. Entries that are only older than wished for are there for the others. */
  #unpublished(misses: readonly PendingMiss[], now: number): readonly string[] {
    const { memory } = this.#instance;
    return misses
      .filter(({ view, symbol }) => !memory.entriesOf(view).entries.has(symbol))
      .map(missKey)
      .filter((key) => now - (this.#publishedAt.get(key) ?? 0) >= missMs);
  }

  async #publish(keys: readonly string[], now: number): Promise<void> {
    const { store, log, runtime } = this.#instance;
    try {
      await store.writeMisses(keys);
      for (const [key, at] of this.#publishedAt) if (now - at >= missMs) this.#publishedAt.delete(key);
      for (const key of keys) this.#publishedAt.set(key, now);
    } catch (cause) {
      log.reportOptionalFailure(cause, runtime.clock());
    }
  }

  async #nap(ms: number, waiter: MissWaiter): Promise<MissStep> {
    const { log, runtime } = this.#instance;
    if (!waiter.isCounted && !(await log.mayWait())) return 'left';
    waiter.isCounted = true;
    await runtime.sleep(ms);
    return 'waited';
  }
}

/** How long a request that has something to show waits for something newer. */
const softWaitMs = 1000;
/** How long a request waits without a store: for its own call, because no other instance shares it. */
const aloneWaitMs = 100;
/** How much longer than its wait a request's own call may take. */
const lastCallMs = 900;
/** How long a request waits for a probe of unlisted symbols alone; after that the directory's answer counts. */
const unlistedWaitMs = 800;
/** What a request that got nothing is told to wait, at least. */
const minRetryMs = 1000;
/** Stands for the caller of a miss that costs no quota. */
const anyCaller = '';

export class SnapshotRequest {
  readonly #instance: Instance;
  readonly #call: SnapshotCall;
  readonly #arrivedAt: number;
  readonly #requester: RefreshRequester;
  readonly #priority: Priority;

  constructor(instance: Instance, call: SnapshotCall, arrivedAt: number, requester: RefreshRequester) {
    this.#instance = instance;
    this.#call = call;
    this.#arrivedAt = arrivedAt;
    this.#requester = requester;
    this.#priority = requester.isEventDriven ? 'events' : 'interactive';
  }

  async answer(resolver: MissResolver): Promise<SnapshotOutcome> {
    const first = await this.#firstRead();
    const { result, from } = await this.#resolve(first, resolver);
    const { memory, runtime } = this.#instance;
    // What was not probed by now counts as the directory has it.
    const last = result.missing.length > 0 ? this.#read(false) : result;
    for (const symbol of last.unknown) memory.countNegativeHit(this.#call.view.id, symbol, runtime.clock());
    return this.#outcome(last, from);
  }

  async #firstRead(): Promise<ReadResult> {
    const { memory, directory } = this.#instance;
    const { view } = this.#call;
    const result = this.#read(this.#mayProbeUnlisted());
    const status = memory.statusIn(view.category);
    if (!directory || result.missing.every((symbol) => status.mayShareCall(symbol, view.id))) return result;
    await directory.load();
    return this.#read(this.#mayProbeUnlisted());
  }

  #read(mayProbe: boolean): ReadResult {
    const { memory, options, runtime } = this.#instance;
    return readMemory(this.#call, this.#arrivedAt, { memory, options, now: runtime.clock(), mayProbe });
  }

  /** A symbol that the directory does not list may be new: each caller may have a few of them probed. */
  #mayProbeUnlisted(): boolean {
    const { memory, log, schedule, runtime } = this.#instance;
    return (
      !this.#call.onlyIfCached &&
      !log.isCrowded(runtime.clock()) &&
      !memory.quota.isOver(this.#call.caller, runtime.clock()) &&
      schedule.dueAt('probe', this.#priority) <= this.#arrivedAt + unlistedWaitMs
    );
  }

  /** Waits until nothing is missed or waiting is of no use; tells what the last result came from. */
  async #resolve(
    first: ReadResult,
    resolver: MissResolver,
  ): Promise<{ result: ReadResult; from: 'memory' | 'own-call' | 'other-call' }> {
    const { clock, random } = this.#instance.runtime;
    const waiter = new MissWaiter();
    const request = Math.floor(random() * 2 ** 32).toString(36);
    let result = first;
    /** What memory had before the request waited, if it did. */
    let before: number | undefined;
    while (!this.#call.onlyIfCached && this.#isWorthWaiting(result)) {
      const end = this.#waitsUntil(result);
      if (clock() >= end || this.#isInVain(end)) break;
      before ??= versionOf(result);
      // The request's own call ends soon after its wait does.
      const deadline = Math.min(this.#requester.deadline, end + lastCallMs);
      const step = await resolver.step(this.#missesOf(result, request), waiter, {
        ...this.#requester,
        deadline,
      });
      if (step === 'left') break;
      waiter.recordStep(step);
      result = this.#read(this.#mayProbeUnlisted());
    }
    // A request that waited in vain has what memory had all the time.
    const hasNews = before !== undefined && versionOf(result) !== before;
    return { result, from: !hasNews ? 'memory' : waiter.hasRefreshed ? 'own-call' : 'other-call' };
  }

  #isWorthWaiting({ older, missing }: ReadResult): boolean {
    const { memory, log, options, runtime } = this.#instance;
    const now = runtime.clock();
    if (missing.length > 0) return !memory.upstream.isDown(now) && !this.#isOverQuota(missing);
    if (older.length === 0 || memory.upstream.failures > 0 || log.isStoreDown(now)) return false;
    const { maxAgeMs, caller } = this.#call;
    if (maxAgeMs === undefined) return true;
    return memory.upstream.recentCount('miss', now, caller) < options.refreshesPerMinute;
  }

  /** Whether all that is missing has to be probed, and the caller's quota of invalid symbols is used up. */
  #isOverQuota(missing: readonly string[]): boolean {
    const { memory, runtime } = this.#instance;
    const { caller, view } = this.#call;
    return (
      memory.quota.isOver(caller, runtime.clock()) &&
      !missing.some((symbol) => memory.statusOf(view.id).mayShareCall(symbol, view.id))
    );
  }

  #waitsUntil({ missing }: ReadResult): number {
    const { memory, log, options, runtime } = this.#instance;
    const isFull = missing.length > 0 && !memory.upstream.isFailing;
    const waitMs = log.isStoreDown(runtime.clock()) ? aloneWaitMs : isFull ? options.waitMs : softWaitMs;
    const isUnlisted =
      missing.length > 0 && missing.every((symbol) => memory.isUnlisted(this.#call.view.id, symbol));
    const longest = isUnlisted ? Math.min(unlistedWaitMs, waitMs) : waitMs;
    return Math.min(this.#arrivedAt + longest, this.#requester.deadline);
  }

  /** Whether nothing can come before then: the view is forbidden, or the upstream is not asked. */
  #isInVain(end: number): boolean {
    const { memory, schedule, runtime } = this.#instance;
    const isForbidden = memory.upstream.forbidden(this.#call.view.id, runtime.clock()) !== undefined;
    return isForbidden || schedule.isPausedUntil(end, this.#priority);
  }

  #missesOf({ missing, older }: ReadResult, request: string): readonly PendingMiss[] {
    const { view, caller, maxAgeMs } = this.#call;
    const status = this.#instance.memory.statusIn(view.category);
    const { isEventDriven } = this.#requester;
    return [...missing, ...older.map(({ symbol }) => symbol)].map((symbol) => ({
      // The caller matters only for symbols that have to be probed, and for a wish for newer entries.
      ...(maxAgeMs !== undefined || !status.mayShareCall(symbol, view.id)
        ? { caller, request }
        : { caller: anyCaller }),
      view: view.id,
      symbol,
      ...(isEventDriven && { isEventDriven }),
    }));
  }

  #outcome(result: ReadResult, from: 'memory' | 'own-call' | 'other-call'): SnapshotOutcome {
    const { memory, log, options, schedule, runtime } = this.#instance;
    const now = runtime.clock();
    return outcomeOf(this.#call, result, from, {
      memory,
      options,
      now,
      isOverQuota: this.#isOverQuota(result.missing),
      probeDueAt: schedule.dueAt('probe', this.#priority),
      // Clients that are told to come again do not all come at once.
      retryAfterMs: minRetryMs * (log.isCrowded(now) ? 1 + Math.floor(2 * runtime.random()) : 1),
    });
  }
}

/** Another number once anything newer is known. */
const versionOf = ({ found, older, unknown }: ReadResult): number =>
  [...found, ...older].reduce((sum, { sentAt }) => sum + sentAt, unknown.length);
