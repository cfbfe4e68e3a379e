/** What clients ask for: phones with symbols of their own, readers of symbols that no other client reads, names that do not exist. */

import { createUniverse } from '../../../infra/simulator/market/universe.ts';
import { createZipf } from '../world/load.ts';
import type { Asking } from './plan.ts';
import { keys } from './processes.ts';

/** The simulator's own, in its own order: familiar ones first. */
export const existingStocks: readonly string[] = [...createUniverse(1).values()]
  .filter(({ category }) => category === 'US_STOCK')
  .map(({ symbol }) => symbol);

export const snapshotsOf = (symbols: readonly string[]) =>
  `/openapi/market-data/stock/snapshot?category=US_STOCK&symbols=${symbols.join(',')}`;

export interface PhonesOptions {
  readonly clients: number;
  /** Each asks for some of these; the n-th as often as 1/n. */
  readonly symbols: readonly string[];
  readonly perClient?: number;
  readonly seconds: number;
}

const phoneEveryMs = 5000;

/** Each asks for its own symbols every five seconds, from a moment of its own on. */
export function phones(random: () => number, options: PhonesOptions): readonly Asking[] {
  const { clients, symbols, perClient = 20, seconds } = options;
  const zipf = createZipf(symbols.length);
  return Array.from({ length: clients }, (_, index) => {
    const chosen = new Set<string>();
    while (chosen.size < Math.min(perClient, symbols.length)) chosen.add(symbols[zipf(random())]!);
    const firstMs = random() * phoneEveryMs;
    return {
      name: 'phone',
      key: keys.app,
      // A few networks, none of them one that a study's other callers are in.
      localAddress: `127.0.${10 + (index % 10)}.1`,
      targets: [snapshotsOf([...chosen])],
      firstMs,
      everyMs: phoneEveryMs,
      times: Math.max(0, Math.ceil((1000 * seconds - firstMs) / phoneEveryMs)),
    };
  });
}

/** Reads of footprints, a kind of bars, each of which no other is equal to. */
export function uniqueReads(count: number): readonly string[] {
  const timespans = ['S5', 'S15', 'M1', 'M5', 'M30'];
  return Array.from({ length: count }, (_, index) => {
    const symbol = existingStocks[index % existingStocks.length]!;
    const round = Math.floor(index / existingStocks.length);
    const timespan = timespans[round % timespans.length]!;
    const bars = 1 + Math.floor(round / timespans.length);
    return `/openapi/market-data/stock/footprint?category=US_STOCK&symbols=${symbol}&timespan=${timespan}&count=${bars}`;
  });
}

/** They look like symbols, and nothing but the upstream can tell that they are none. */
export function inventedSymbols(random: () => number, count: number): readonly string[] {
  const existing = new Set(Array.from(createUniverse(1).values(), ({ symbol }) => symbol));
  const invented = new Set<string>();
  while (invented.size < count) {
    const letters = Array.from({ length: 4 }, () => String.fromCharCode(65 + Math.floor(random() * 26)));
    const symbol = letters.join('');
    if (!existing.has(symbol)) invented.add(symbol);
  }
  return [...invented];
}
