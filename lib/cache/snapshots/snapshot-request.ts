/** One request to the snapshot cache: it reads memory, waits for its misses while that is worth it, and answers. */

import type { Priority } from '../../limiter/index.ts';
import type { SnapshotCall, SnapshotOutcome } from './call.ts';
import type { Instance } from './instance.ts';
import { type MissResolver, MissWaiter } from './miss-resolver.ts';
import type { PendingMiss } from './pending-miss.ts';
import { outcomeOf, type ReadResult, readMemory } from './read.ts';
import type { RefreshRequester } from './refresh.ts';

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
