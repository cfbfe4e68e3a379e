/** What all instances ask for, and what they fetched, for one that neither serves nor refreshes: it reads, and writes nothing. */

import { steadyClock } from '../../kernel/age.ts';
import { sleep } from '../../kernel/pauses.ts';
import { SnapshotMemory } from './memory.ts';
import { defaultSnapshotOptions } from './options.ts';
import type { Runtime } from './ports.ts';
import { RefreshLog } from './refresh-log.ts';
import type { SnapshotStore } from './store.ts';

export interface WatchedSymbol {
  readonly category: string;
  readonly symbol: string;
  /** How often clients requested it lately, of all instances together, older requests counting less. */
  readonly demand: number;
}

export class WatchedSnapshots {
  readonly #clock: () => number;
  readonly #memory = new SnapshotMemory(defaultSnapshotOptions);
  readonly #log: RefreshLog;

  constructor(store: SnapshotStore, runtime: Partial<Runtime> = {}) {
    const all = { clock: Date.now, sleep, random: Math.random, ...runtime };
    this.#clock = steadyClock(all.clock);
    this.#log = new RefreshLog(store, { ...all, clock: this.#clock }, defaultSnapshotOptions, this.#memory);
  }

  /** Reads what is new. Never rejects. */
  poll(): Promise<void> {
    return this.#log.poll();
  }

  /** Those in demand most first, of all views of a category together. */
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

  /** The record that was fetched last, of any view of the category. */
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
