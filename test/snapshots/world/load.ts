/** Phones: each asks for its own twenty symbols, in its own view, every five seconds. */

import { createUniverse } from '../../../infra/simulator/market/universe.ts';
import type { SnapshotCall } from '../../../lib/cache/snapshots/request.ts';
import { viewOfId } from '../../../lib/cache/snapshots/view.ts';

export interface LoadOptions {
  readonly clients: number;
  /** Symbols that exist, over all views' categories. */
  readonly symbols: number;
  readonly perClient?: number;
  /** Of the symbols that clients ask for. */
  readonly invalidShare?: number;
  /** Names that do not exist, from which invalid symbols are drawn. */
  readonly invalidNames?: number;
  readonly views?: readonly (readonly [id: string, share: number])[];
  /** Clients share a few keys, named like this. Default 3, `key-0` and so on. */
  readonly caller?: string;
  readonly callers?: number;
  /** Parts of the symbols that are of a category; what is not named here is the first category's. */
  readonly etfShare?: number;
}

export interface Client {
  /** What it asks for; a getter when it is another one each time. */
  readonly call: SnapshotCall;
  /** Asked for and existing. */
  readonly existing: number;
}

/** As real apps mix them: mainly the plain list, some with extended hours, some of funds. */
export const appViews = [
  ['US_STOCK', 0.55],
  ['US_STOCK+e', 0.2],
  ['US_ETF', 0.15],
  ['US_STOCK+eo', 0.05],
  ['US_ETF+e', 0.05],
] as const;

export const oneView = [['US_STOCK', 1]] as const;

export function createClients(random: () => number, options: LoadOptions): Client[] {
  const { clients, symbols, perClient = 20, invalidShare = 0.01, invalidNames = 20 } = options;
  const { views = oneView, etfShare = 0.15, caller = 'key-', callers = 3 } = options;
  const hasEtfs = views.some(([id]) => id.startsWith('US_ETF'));
  const etfs = hasEtfs ? Math.round(symbols * etfShare) : 0;
  const zipf = { US_STOCK: createZipf(symbols - etfs), US_ETF: createZipf(Math.max(1, etfs)) };
  return Array.from({ length: clients }, (_, index) => {
    const view = viewOfId(pick(views, random()));
    const category = view.category as 'US_STOCK' | 'US_ETF';
    const most = category === 'US_ETF' ? etfs : symbols - etfs;
    const chosen = new Set<string>();
    let existing = 0;
    while (chosen.size < Math.min(perClient, most)) {
      const isJunk = random() < invalidShare;
      const name = isJunk
        ? `0${Math.floor(random() * invalidNames)}`
        : nameOf(category, zipf[category](random()));
      if (!isJunk && !chosen.has(name)) existing++;
      chosen.add(name);
    }
    return { existing, call: { view, symbols: [...chosen], caller: `${caller}${index % callers}` } };
  });
}

/** Names as tickers are: one to five letters. */
export function nameOf(category: string, rank: number): string {
  let left = Math.imul(rank + 1, 7919) + (category === 'US_ETF' ? 5_000_011 : 0);
  let name = '';
  for (let at = 0; at < 4; at++, left = Math.floor(left / 26))
    name = String.fromCharCode(65 + (left % 26)) + name;
  return `${category === 'US_ETF' ? 'Y' : ''}${name}`;
}

export const exists = (symbol: string) => !symbol.startsWith('0');

/** A rank by chance, the n-th as often as 1/n. */
export function createZipf(size: number): (chance: number) => number {
  const sums = new Float64Array(size);
  let total = 0;
  for (let rank = 0; rank < size; rank++) {
    total += 1 / (rank + 1);
    sums[rank] = total;
  }
  return (chance) => {
    const sought = chance * total;
    let low = 0;
    let high = size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < sought) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

function pick(views: readonly (readonly [id: string, share: number])[], chance: number): string {
  let left = chance * views.reduce((total, [, share]) => total + share, 0);
  for (const [id, share] of views) {
    left -= share;
    if (left < 0) return id;
  }
  return views[0]![0];
}

/** The simulator's own, in its own order: familiar ones first. */
export const existingStocks: readonly string[] = [...createUniverse(1).values()]
  .filter(({ category }) => category === 'US_STOCK')
  .map(({ symbol }) => symbol);
