/**
 * What a request does about its misses, step by step. Concurrent misses share one call (single flight), among all
 * instances: a request polls for what others fetched, refreshes when a lease is due, or publishes what it misses and
 * waits.
 */

import type { Instance } from './instance.ts';
import { missKey, type PendingMiss } from './pending-miss.ts';
import type { RefreshRequester } from './refresh.ts';
import { missMs } from './store.ts';
import { fingerprintOf } from './view-entries.ts';

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
