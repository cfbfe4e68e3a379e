/**
 * Snapshots for many clients out of few upstream calls. Every instance answers from memory and polls the refresh log
 * while it serves. The request that an instance serves when a refresh is due makes it, and is the only one that waits
 * for it; requests that miss an entry share one call.
 */

import type { SnapshotCache, SnapshotCall, SnapshotOutcome } from './call.ts';
import { DemandShares } from './demand-share.ts';
import { createInstance, type Instance, type SnapshotCacheOptions } from './instance.ts';
import { MissResolver, minRefreshMs } from './miss-resolver.ts';
import type { RefreshRequester } from './refresh.ts';
import { SnapshotRequest } from './snapshot-request.ts';

export type { ServedSnapshot, SnapshotCache, SnapshotCall, SnapshotOutcome } from './call.ts';
export type { SnapshotCacheOptions } from './instance.ts';

export const createSnapshotCache = (options: SnapshotCacheOptions): SnapshotCache =>
  new SharedSnapshotCache(createInstance(options));

export class SharedSnapshotCache implements SnapshotCache {
  protected readonly instance: Instance;
  readonly #resolver: MissResolver;
  readonly #shares = new DemandShares();
  #isRefreshing = false;

  constructor(instance: Instance) {
    this.instance = instance;
    this.#resolver = new MissResolver(instance);
  }

  async ask(call: SnapshotCall): Promise<SnapshotOutcome> {
    const { memory, runtime } = this.instance;
    const arrivedAt = runtime.clock();
    const { view, symbols, deadline = Number.POSITIVE_INFINITY } = call;
    const entries = memory.entriesOf(view.id);
    const weight = this.#shares.weigh(call.caller, symbols.length, arrivedAt);
    for (const symbol of symbols) {
      const entry = entries.entries.get(symbol);
      if (entry) entries.countRequest(entry, arrivedAt, weight);
    }
    const requester = { deadline, isEventDriven: call.priority === 'events' };
    await this.keepUp(requester, call.onlyIfCached);
    return new SnapshotRequest(this.instance, call, arrivedAt, requester).answer(this.#resolver);
  }

  /** Brings the memory up to date, and refreshes if that is due and no other request of this instance does. */
  async keepUp(requester: RefreshRequester, onlyIfCached = false): Promise<void> {
    const { log, refresher, contention, runtime } = this.instance;
    const { clock } = runtime;
    if (log.isStale(clock())) await log.poll();
    if (onlyIfCached || this.#isRefreshing || !this.#isRefreshDue(requester)) return;
    if (requester.deadline - clock() < minRefreshMs) return;
    this.#isRefreshing = true;
    try {
      // Another instance may have acquired the lease that is due.
      if (!log.isCurrent(clock())) await log.poll();
      if (this.#isRefreshDue(requester)) contention.record(await refresher.acquire('refresh', [], requester));
    } finally {
      this.#isRefreshing = false;
    }
  }

  #isRefreshDue({ isEventDriven }: RefreshRequester): boolean {
    const { log, schedule, contention, runtime } = this.instance;
    const due = schedule.refreshDueAt(isEventDriven);
    return runtime.clock() >= due + contention.delayMs(log.control.sequence);
  }
}
