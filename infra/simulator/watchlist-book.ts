/** Watchlists of the user, in memory. */

import type { Instrument } from './market/instrument.ts';

export interface WatchlistEntry {
  readonly instrument: Instrument;
  readonly sort: number;
  readonly addedAt: number;
}

export interface Watchlist {
  readonly id: string;
  readonly name: string;
  readonly sort: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Entries by symbol. */
  readonly entries: ReadonlyMap<string, WatchlistEntry>;
}

export const maxLists = 20;
/** Maximum over all lists of the user. */
export const maxInstruments = 1000;

export class WatchlistBook {
  readonly #lists = new Map<string, Watchlist>();

  constructor(initial: readonly Watchlist[]) {
    for (const list of initial) this.#lists.set(list.id, list);
  }

  /** Lists, highest sort first, and the older one of two with the same. */
  get all(): readonly Watchlist[] {
    return [...this.#lists.values()].sort((a, b) => b.sort - a.sort || a.createdAt - b.createdAt);
  }

  /** Number of instruments over all lists. */
  get size(): number {
    return [...this.#lists.values()].reduce((sum, { entries }) => sum + entries.size, 0);
  }

  find(id: string): Watchlist | undefined {
    return this.#lists.get(id);
  }

  create(name: string, sort: number | undefined, now: number): Watchlist {
    const id = this.#freeId();
    const highest = Math.max(0, ...[...this.#lists.values()].map((list) => list.sort));
    const list = { id, name, sort: sort ?? highest + 1, createdAt: now, updatedAt: now, entries: new Map() };
    this.#lists.set(id, list);
    return list;
  }

  change(list: Watchlist, changes: Partial<Watchlist>, now: number): void {
    this.#lists.set(list.id, { ...list, ...changes, updatedAt: now });
  }

  delete(id: string): void {
    this.#lists.delete(id);
  }

  /** Lowest free id, so that a list which an example names can come back after it was deleted. */
  #freeId(): string {
    for (let id = firstId; ; id += 154) if (!this.#lists.has(String(id))) return String(id);
  }
}

const firstId = 40_218_837;

/** Lists that exist from the start, under ids that can be written into a note. */
export function initialWatchlists(find: (symbol: string) => Instrument | undefined): readonly Watchlist[] {
  const listOf = (id: number, name: string, sort: number, symbols: readonly string[]): Watchlist => {
    const createdAt = Date.UTC(2026, 5, 2, 9, 15) + sort * 60_000;
    const found = symbols.flatMap((symbol) => find(symbol) ?? []);
    const entries = found.map((instrument, at): [string, WatchlistEntry] => [
      instrument.symbol,
      { instrument, sort: found.length - at, addedAt: createdAt + at * 1000 },
    ]);
    return { id: String(id), name, sort, createdAt, updatedAt: createdAt, entries: new Map(entries) };
  };
  return [
    listOf(firstId, 'Core', 2, ['AAPL', 'MSFT', 'NVDA']),
    listOf(firstId + 154, 'Funds', 1, ['SPY', 'QQQ']),
  ];
}
