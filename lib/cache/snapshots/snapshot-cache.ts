/**
 * Snapshots for many clients out of few upstream calls. Every instance answers from memory and polls the refresh log
 * while it serves. The request that an instance serves when a refresh is due makes it, and is the only one that waits
 * for it; requests that miss an entry share one call.
 */

import { ageMsOf, steadyClock } from '../../kernel/age.ts';
import { sleep } from '../../kernel/pauses.ts';
import { createInstance, type Instance, refreshDueAt, type SnapshotCacheOptions } from './instance.ts';
import { SnapshotMemory } from './memory.ts';
import { defaultSnapshotOptions, type Runtime } from './ports.ts';
import { minRefreshMs, type RefreshRequester, refresh } from './refresh.ts';
import { defaultPollMs, RefreshLog } from './refresh-log.ts';
import {
  answer,
  readMemory,
  type ServedSnapshot,
  type SnapshotCall,
  type SnapshotOutcome,
} from './request.ts';
import { maxSymbolLength, type SnapshotStore } from './store.ts';
import type { View } from './view.ts';

export interface SnapshotCache {
  /** Always resolves. Waits for others four seconds at most; a call of its own may take a second more. */
  ask(call: SnapshotCall): Promise<SnapshotOutcome>;
}

export const createSnapshotCache = (options: SnapshotCacheOptions): SnapshotCache =>
  new SharedSnapshots(options);

class SharedSnapshots implements SnapshotCache {
  protected readonly instance: Instance;

  constructor(options: SnapshotCacheOptions, pollMs?: number) {
    this.instance = createInstance(options, pollMs);
  }

  async ask(call: SnapshotCall): Promise<SnapshotOutcome> {
    const { instance } = this;
    const { memory, shares, runtime } = instance;
    const { view, symbols, caller, deadline = Number.POSITIVE_INFINITY, priority = 'interactive' } = call;
    const arrivedAt = runtime.clock();
    const entries = memory.entriesOf(view.id);
    const weight = shares.weigh(caller, symbols.length, arrivedAt);
    for (const symbol of symbols) entries.countRequest(symbol, arrivedAt, weight);
    const requester = { deadline, isEventDriven: priority === 'events' };
    await keepUp(instance, requester, call.onlyIfCached);
    const request = { instance, call, arrivedAt, requester, priority };
    return answer(request, readMemory(request));
  }
}

/** Brings the memory up to date, and refreshes if that is due and no other request of this instance does. */
async function keepUp(instance: Instance, requester: RefreshRequester, onlyIfCached = false): Promise<void> {
  const { log } = instance;
  const { clock } = instance.runtime;
  if (log.isPollDue(clock())) await log.poll();
  if (onlyIfCached || instance.isRefreshing || !isRefreshDue(instance, requester)) return;
  if (requester.deadline - clock() < minRefreshMs) return;
  instance.isRefreshing = true;
  try {
    // Another instance may have acquired the lease that is due.
    if (!log.isJustRead(clock())) await log.poll();
    if (isRefreshDue(instance, requester)) await refresh(instance, 'refresh', [], requester);
  } finally {
    instance.isRefreshing = false;
  }
}

function isRefreshDue(instance: Instance, { isEventDriven }: RefreshRequester): boolean {
  const { log, contention, runtime } = instance;
  const due = refreshDueAt(instance, isEventDriven);
  return runtime.clock() >= due + contention.delayMs(log.control.sequence);
}

/** A symbol as memory has it now. */
export type Look =
  | { readonly kind: 'known'; readonly snapshot: ServedSnapshot; readonly stale: boolean }
  /** The upstream does not know it; or, if `mayExist`, only the directory lacks it, and no client has asked for it lately. */
  | { readonly kind: 'unknown'; readonly mayExist?: true }
  /** No instance has it, or what they have is too old to be served. */
  | { readonly kind: 'missing' };

/**
 * Poll interval for each process that follows, in milliseconds: together they poll a thousand times a second at most. One
 * partition key of the store has 3,000 units a second for them, for requests and for refreshes.
 */
const pollMsOfEach = 1;

/** The snapshot cache for a process that follows symbols: it also shows entries without a request for them. */
export class FollowedSnapshots extends SharedSnapshots {
  /** @param processes that follow the same store at most */
  constructor(options: SnapshotCacheOptions, processes = 1) {
    super(options, Math.max(defaultPollMs, pollMsOfEach * processes));
  }

  /** Reads what other instances fetched, and refreshes if that is due, as every request does first. */
  follow(): Promise<void> {
    return keepUp(this.instance, { deadline: Number.POSITIVE_INFINITY, isEventDriven: false });
  }

  /** Reads memory alone. */
  look(view: View, symbol: string): Look {
    const { memory, options, runtime } = this.instance;
    const now = runtime.clock();
    const snapshot = memory.entryOf(view.id, symbol);
    const ageMs = ageMsOf(snapshot?.sentAt ?? Number.NEGATIVE_INFINITY, now);
    if (snapshot && ageMs <= options.expireAfterMs)
      return { kind: 'known', snapshot, stale: ageMs > options.staleAfterMs };
    if (symbol.length > maxSymbolLength || memory.negativeEntry(view.id, symbol, now))
      return { kind: 'unknown' };
    return memory.isUnlisted(view.id, symbol) ? { kind: 'unknown', mayExist: true } : { kind: 'missing' };
  }

  /** Counts requests for a symbol to this instance: demand decides how often it is refreshed. */
  count(view: View, symbol: string, times: number): void {
    const { memory, runtime } = this.instance;
    memory.entriesOf(view.id).countRequest(symbol, runtime.clock(), times);
  }
}

interface WatchedSymbol {
  readonly category: string;
  readonly symbol: string;
  /** How often clients requested it lately, of all instances together, older requests counting less. */
  readonly demand: number;
}

/** Reads which symbols all instances ask for, and what they fetched, for a process that neither serves nor refreshes. It writes nothing. */
export class WatchedSnapshots {
  readonly #clock: () => number;
  readonly #memory = new SnapshotMemory(defaultSnapshotOptions);
  readonly #log: RefreshLog;

  constructor(store: SnapshotStore, runtime: Partial<Runtime> = {}) {
    const all = { clock: Date.now, sleep, random: Math.random, ...runtime };
    this.#clock = steadyClock(all.clock);
    this.#log = new RefreshLog(
      { store, runtime: { ...all, clock: this.#clock } },
      defaultSnapshotOptions,
      this.#memory,
    );
  }

  /** Reads new records. Never rejects. */
  poll(): Promise<void> {
    return this.#log.poll();
  }

  /** Requested symbols by demand, highest first; the demand of all views of a category together. */
  wanted(): readonly WatchedSymbol[] {
    const now = this.#clock();
    const symbols = new Map<string, WatchedSymbol>();
    for (const entries of this.#memory.views.values()) {
      const { category } = entries.view;
      for (const { symbol, demand } of entries.inUse(now)) {
        const key = `${category} ${symbol}`;
        symbols.set(key, { category, symbol, demand: demand + (symbols.get(key)?.demand ?? 0) });
      }
    }
    return [...symbols.values()].sort((a, b) => b.demand - a.demand);
  }

  /** The record that was fetched last in any view of the category. */
  fetched(
    category: string,
    symbol: string,
  ): { readonly record: Uint8Array; readonly at: number } | undefined {
    let latest: { readonly record: Uint8Array; readonly at: number } | undefined;
    for (const { view, entries } of this.#memory.views.values()) {
      const entry = view.category === category ? entries.get(symbol) : undefined;
      if (entry && entry.fetchedAt > (latest?.at ?? 0))
        latest = { record: entry.record, at: entry.fetchedAt };
    }
    return latest;
  }
}
