/**
 * One request to the snapshot cache: it reads memory, waits for its misses while that is worth it, and answers.
 * Concurrent misses share one call (single flight), among all instances: a request polls for what others fetched,
 * refreshes when a lease is due, or publishes what it misses and waits.
 */

import { ageMsOf } from '../../kernel/age.ts';
import type { Priority } from '../../limiter/index.ts';
import { fingerprintOf, type SnapshotEntry } from './entries.ts';
import { dueAt, type Instance, isPausedUntil } from './instance.ts';
import { maxSymbols } from './plan.ts';
import type { SnapshotOptions, UpstreamError } from './ports.ts';
import { minRefreshMs, type RefreshRequester, refresh } from './refresh.ts';
import { maxSymbolLength, missKey, missMs, type PendingMiss } from './store.ts';
import type { View } from './view.ts';

export interface SnapshotCall {
  readonly view: View;
  /** In the order of the answer; a symbol may occur twice. */
  readonly symbols: readonly string[];
  /** Refreshes by `max-age` and failed probes count against this caller. */
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

/** Whether all was in memory, or a refresh had to be waited for: this request's own or another's. */
type ResultSource = 'memory' | 'own-call' | 'other-call';

export type SnapshotOutcome =
  | {
      readonly kind: 'snapshots';
      /** Each requested symbol that exists, in the order of the call. */
      readonly snapshots: readonly ServedSnapshot[];
      /** The age of the oldest, in milliseconds. */
      readonly ageMs: number;
      /** Symbols that the upstream does not know. */
      readonly unknown: readonly string[];
      readonly from: ResultSource;
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

/** How long a client waits for an entry that no instance has, at most. */
const maxWaitMs = 4000;
/** How long a request that has something to show waits for something newer. */
const softWaitMs = 1000;
/** How long a request waits without a store: for its own call, because no other instance shares it. */
const aloneWaitMs = 100;
/** How much longer than its wait a request's own call may take. */
const lastCallMs = 900;
/** How long a request waits for a probe of unlisted symbols alone; after that the directory's answer counts. */
const unlistedWaitMs = 800;
/** The least time after which a request that got nothing is told to come again. */
const minRetryMs = 1000;
/** Stands for the caller of a miss that costs no quota. */
const anyCaller = '';
/** A request that waits looks into memory again after the first of these, and then ever less often. */
const napMs = { first: 30, max: 250 } as const;
/** How long a request whose misses are published leaves the lease to newer requests. */
const patienceMs = 60;

/** A call that is being answered. */
interface SnapshotRequest {
  readonly instance: Instance;
  readonly call: SnapshotCall;
  readonly arrivedAt: number;
  readonly requester: RefreshRequester;
  readonly priority: Priority;
}

/**
 * Waits for misses while that is worth it, and makes the outcome. Always resolves.
 *
 * @param known the symbols of the request by what memory holds
 */
export async function answer(request: SnapshotRequest, known: ReadResult): Promise<SnapshotOutcome> {
  const { memory, runtime } = request.instance;
  const { result, from } = await resolveMisses(request, await withDirectory(request, known));
  // Symbols that were not probed by now count as the directory has them.
  const last = result.missing.length > 0 ? readMemory(request, false) : result;
  for (const symbol of last.unknown) memory.countNegativeHit(request.call.view.id, symbol, runtime.clock());
  return outcomeOf(request, last, from);
}

/** The symbols of a call, by what memory holds. */
interface ReadResult {
  readonly found: readonly SnapshotEntry[];
  /** Older than wished for, but better than nothing. */
  readonly older: readonly SnapshotEntry[];
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

/** Reads memory again once the directory is there, if that decides about any symbol. */
async function withDirectory(request: SnapshotRequest, known: ReadResult): Promise<ReadResult> {
  const { memory, directory } = request.instance;
  const { view } = request.call;
  const status = memory.statusIn(view.category);
  if (!directory || known.missing.every((symbol) => status.mayShareCall(symbol, view.id))) return known;
  await directory.load();
  return readMemory(request);
}

/** @param mayProbe whether the upstream may be asked for a symbol that the directory does not list */
export function readMemory(request: SnapshotRequest, mayProbe = mayProbeUnlisted(request)): ReadResult {
  const { instance, call, arrivedAt } = request;
  const { memory, options, runtime } = instance;
  const { view, symbols } = call;
  const now = runtime.clock();
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

/** How old an entry may be for a call that is served without a try for a newer one. */
function ageLimit(
  { maxAgeMs, maxStaleMs = 0 }: SnapshotCall,
  { staleAfterMs, expireAfterMs, minMaxAgeMs }: SnapshotOptions,
): number {
  if (maxAgeMs !== undefined) return Math.min(staleAfterMs, Math.max(minMaxAgeMs, maxAgeMs));
  return Math.min(expireAfterMs, staleAfterMs + maxStaleMs);
}

/** A symbol that the directory does not list may be new: each caller may have a few of them probed. */
function mayProbeUnlisted({ instance, call, arrivedAt, priority }: SnapshotRequest): boolean {
  const { memory, log, runtime } = instance;
  return (
    !call.onlyIfCached &&
    !log.health.isCrowded(runtime.clock()) &&
    !memory.quota.isOver(call.caller, runtime.clock()) &&
    dueAt(instance, 'probe', priority) <= arrivedAt + unlistedWaitMs
  );
}

/** Waits until nothing is missed or waiting is of no use, and says where the last result came from. */
async function resolveMisses(
  request: SnapshotRequest,
  first: ReadResult,
): Promise<{ result: ReadResult; from: ResultSource }> {
  const { instance, call, requester } = request;
  const { clock, random } = instance.runtime;
  const wait: MissWait = { napMs: napMs.first, isCounted: false, hasRefreshed: false, hasPolled: false };
  const name = Math.floor(random() * 2 ** 32).toString(36);
  let result = first;
  /** The version of what memory had before the request waited, if it did. */
  let before: number | undefined;
  while (!call.onlyIfCached && isWorthWaiting(request, result)) {
    const end = waitsUntil(request, result);
    if (clock() >= end || isInVain(request, end)) break;
    before ??= versionOf(result);
    // The request's own call ends soon after its wait does.
    const deadline = Math.min(requester.deadline, end + lastCallMs);
    const step = await takeStep(request, missesOf(request, result, name), wait, deadline);
    if (step === 'left') break;
    wait.hasPolled = step === 'polled';
    wait.hasRefreshed ||= step === 'refreshed';
    wait.napMs = step === 'refreshed' ? napMs.first : Math.min(napMs.max, wait.napMs * 1.3);
    result = readMemory(request);
  }
  // A request that waited in vain is answered from memory.
  const hasNews = before !== undefined && versionOf(result) !== before;
  return { result, from: !hasNews ? 'memory' : wait.hasRefreshed ? 'own-call' : 'other-call' };
}

/** A number that changes once memory has anything newer. */
const versionOf = ({ found, older, unknown }: ReadResult): number =>
  [...found, ...older].reduce((sum, { sentAt }) => sum + sentAt, unknown.length);

function isWorthWaiting(request: SnapshotRequest, { older, missing }: ReadResult): boolean {
  const { memory, log, options, runtime } = request.instance;
  const now = runtime.clock();
  if (missing.length > 0) return !memory.upstream.isDown(now) && !isOverQuota(request, missing);
  if (older.length === 0 || memory.upstream.failures > 0 || log.health.isDown(now)) return false;
  const { maxAgeMs, caller } = request.call;
  if (maxAgeMs === undefined) return true;
  return memory.upstream.recentCount('miss', now, caller) < options.refreshesPerMinute;
}

/** Whether all that is missing has to be probed, and the caller's quota of invalid symbols is used up. */
function isOverQuota({ instance, call }: SnapshotRequest, missing: readonly string[]): boolean {
  const { memory, runtime } = instance;
  const { caller, view } = call;
  return (
    memory.quota.isOver(caller, runtime.clock()) &&
    !missing.some((symbol) => memory.statusOf(view.id).mayShareCall(symbol, view.id))
  );
}

function waitsUntil(
  { instance, call, arrivedAt, requester }: SnapshotRequest,
  { missing }: ReadResult,
): number {
  const { memory, log, runtime } = instance;
  const isFull = missing.length > 0 && !memory.upstream.isFailing;
  const waitMs = log.health.isDown(runtime.clock()) ? aloneWaitMs : isFull ? maxWaitMs : softWaitMs;
  const isUnlisted = missing.length > 0 && missing.every((symbol) => memory.isUnlisted(call.view.id, symbol));
  const longest = isUnlisted ? Math.min(unlistedWaitMs, waitMs) : waitMs;
  return Math.min(arrivedAt + longest, requester.deadline);
}

/** Whether nothing can come before then: the view is forbidden, or the upstream is not asked. */
function isInVain({ instance, call, priority }: SnapshotRequest, end: number): boolean {
  const { memory, runtime } = instance;
  const isForbidden = memory.upstream.forbidden(call.view.id, runtime.clock()) !== undefined;
  return isForbidden || isPausedUntil(instance, end, priority);
}

/** @param name tells the request from others of the caller */
function missesOf(
  { instance, call, requester }: SnapshotRequest,
  { missing, older }: ReadResult,
  name: string,
): readonly PendingMiss[] {
  const { view, caller, maxAgeMs } = call;
  const status = instance.memory.statusIn(view.category);
  const { isEventDriven } = requester;
  return [...missing, ...older.map(({ symbol }) => symbol)].map((symbol) => ({
    // The caller matters only for symbols that have to be probed, and for a wish for newer entries.
    ...(maxAgeMs !== undefined || !status.mayShareCall(symbol, view.id)
      ? { caller, request: name }
      : { caller: anyCaller }),
    view: view.id,
    symbol,
    ...(isEventDriven && { isEventDriven }),
  }));
}

/** A step's effect: `refreshed` when this request asked the upstream, `left` when it must not wait any longer. */
type MissStep = 'polled' | 'refreshed' | 'waited' | 'left';

/** The state of a request that waits for its misses. */
interface MissWait {
  napMs: number;
  /** Whether the store counts it among the requests that wait. */
  isCounted: boolean;
  /** Whether one of its steps asked the upstream. */
  hasRefreshed: boolean;
  /** Whether its last step read the log. */
  hasPolled: boolean;
}

/** One step towards the symbols that a request misses. */
async function takeStep(
  { instance, requester, priority }: SnapshotRequest,
  misses: readonly PendingMiss[],
  wait: MissWait,
  deadline: number,
): Promise<MissStep> {
  const { log, memory, contention, runtime } = instance;
  const { clock, random } = runtime;
  if (!wait.hasPolled && !log.isJustRead(clock()) && !log.health.isDown(clock())) {
    await log.poll();
    return 'polled';
  }
  const now = clock();
  const flights = log.flights(now);
  const open = misses.filter(
    ({ view, symbol }) =>
      !flights.some((flight) => flight.view === view && flight.fingerprints.includes(fingerprintOf(symbol))),
  );
  if (open.length > 0 && (await log.catchUp())) return 'polled';
  const isCrowded = log.health.isCrowded(now);
  const randomNap = () => nap(instance, wait, wait.napMs * (0.5 + random()));
  // An upstream that may be down is asked by one request at a time.
  if (open.length === 0 || (memory.upstream.isFailing && flights.length > 0))
    return isCrowded ? 'left' : randomNap();
  const unpublished = unpublishedOf(instance, open, now);
  // When many requests miss the same symbol, the new ones refresh; the others help if none does.
  const isNew = unpublished.length > 0 && wait.napMs === napMs.first;
  const patience = isNew ? 0 : patienceMs * (1 + random());
  const mayShareCall = ({ view, symbol }: PendingMiss) => memory.statusOf(view).mayShareCall(symbol, view);
  const kind = open.some(mayShareCall) ? 'miss' : 'probe';
  const isDue = now >= dueAt(instance, kind, priority) + (isCrowded ? 0 : patience);
  const mayTry = !isCrowded || contention.mayTry(log.concurrentStarts);
  if (isDue && deadline - now >= minRefreshMs && mayTry) {
    const result = await refresh(instance, kind, open, { ...requester, deadline });
    if (result === 'acquired') return 'refreshed';
    // Idle: a call in another view is under way already.
    if (!isCrowded) return result === 'idle' ? randomNap() : 'waited';
  }
  if (unpublished.length > 0 && !log.health.isDown(now)) await publish(instance, unpublished, now);
  // A request that waits has its instance for itself, and there are not enough of them for all.
  if (isCrowded) return 'left';
  // Requests wake at different moments: the first takes the misses of the others along.
  const untilDue = Math.max(patience, dueAt(instance, kind, priority) - clock() + patience);
  const pauseMs = Math.min(untilDue, wait.napMs) + random() * 10;
  return nap(instance, wait, Math.min(pauseMs, Math.max(1, deadline - now)));
}

/** Misses that were not published lately. Entries that are only older than wished for are there for the others. */
const unpublishedOf = (
  { memory, publishedAt }: Instance,
  misses: readonly PendingMiss[],
  now: number,
): readonly string[] =>
  misses
    .filter(({ view, symbol }) => !memory.entryOf(view, symbol))
    .map(missKey)
    .filter((key) => now - (publishedAt.get(key) ?? 0) >= missMs);

async function publish(
  { store, log, publishedAt, runtime }: Instance,
  keys: readonly string[],
  now: number,
): Promise<void> {
  try {
    await store.writeMisses(keys);
    for (const [key, at] of publishedAt) if (now - at >= missMs) publishedAt.delete(key);
    for (const key of keys) publishedAt.set(key, now);
  } catch (cause) {
    log.health.failOptional(cause, runtime.clock());
  }
}

async function nap({ log, runtime }: Instance, wait: MissWait, ms: number): Promise<MissStep> {
  if (!wait.isCounted && !(await log.mayWait())) return 'left';
  wait.isCounted = true;
  await runtime.sleep(ms);
  return 'waited';
}

function outcomeOf(
  request: SnapshotRequest,
  { found, older, missing, unknown }: ReadResult,
  from: ResultSource,
): SnapshotOutcome {
  const { instance, call, priority } = request;
  const { memory, log, options, runtime } = instance;
  const { view, symbols, maxAgeMs } = call;
  const now = runtime.clock();
  // Clients that are told to come again do not all come at once.
  const retryAfterMs = minRetryMs * (log.health.isCrowded(now) ? 1 + Math.floor(2 * runtime.random()) : 1);
  const forbidden = memory.upstream.forbidden(view.id, now);
  if (forbidden && missing.length > 0) return { kind: 'refused', error: forbidden };
  if (missing.length > 0)
    return {
      kind: 'unavailable',
      cached: [...found, ...older],
      missing,
      retryAfterMs: Math.max(retryAfterMs, dueAt(instance, 'probe', priority) - now),
      isOverQuota: isOverQuota(request, missing),
    };
  if (unknown.length > 0 && unknown.length === symbols.length) {
    const errors = unknown.map((symbol) => memory.negativeEntry(view.id, symbol, now)?.error);
    const error = errors.find((one) => one);
    if (error) return { kind: 'refused', error };
  }
  const { entries } = memory.entriesOf(view.id);
  const snapshots = symbols.flatMap((symbol) => entries.get(symbol) ?? []);
  const ageMs = snapshots.reduce((most, { sentAt }) => Math.max(most, ageMsOf(sentAt, now)), 0);
  return {
    kind: 'snapshots',
    snapshots,
    ageMs,
    unknown,
    from,
    stale: ageMs > options.staleAfterMs,
    hasMaxAge: maxAgeMs !== undefined,
    pollAfterMs: Math.ceil(entries.size / maxSymbols) * options.paceMs,
  };
}
