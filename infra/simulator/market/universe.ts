/**
 * Instruments of the simulated upstream. A few have tickers that people type by habit, so that a first try finds something;
 * all their other properties, and all other instruments, are invented.
 */

import { hashOf, mix } from '../random.ts';
import type { Category, Instrument } from './instrument.ts';
import { createInstrument, priceFrom } from './make-instrument.ts';

const familiarStocks: Readonly<Record<string, number>> = {
  AAPL: 230,
  MSFT: 510,
  NVDA: 180,
  AMZN: 225,
  GOOGL: 240,
  META: 720,
  TSLA: 340,
  AVGO: 330,
  AMD: 165,
  NFLX: 1180,
  JPM: 305,
  BAC: 50,
  V: 345,
  KO: 68,
  PEP: 145,
  DIS: 115,
  INTC: 30,
  F: 12,
  XOM: 112,
  WMT: 102,
  JNJ: 178,
  PFE: 25,
  'BRK.B': 495,
};

const familiarEtfs: Readonly<Record<string, number>> = {
  SPY: 655,
  QQQ: 590,
  VTI: 320,
  VOO: 600,
  IWM: 238,
  DIA: 458,
  GLD: 340,
  TLT: 89,
  XLK: 265,
  XLF: 53,
};

/**
 * Number of instruments in each category, and of those that are traded actively. The rest is the long tail of a market:
 * thousands of symbols that few people ask for.
 */
const sizes: Readonly<Record<Category, { readonly active: number; readonly all: number }>> = {
  US_STOCK: { active: 1200, all: 8500 },
  US_ETF: { active: 150, all: 3500 },
};

/** Instruments by symbol; no symbol is in both categories. */
export class Universe {
  readonly seed: number;
  readonly #active: ReadonlyMap<string, Instrument>;
  #whole: ReadonlyMap<string, Instrument> | undefined;

  constructor(seed: number) {
    this.seed = seed;
    this.#active = inventActive(seed);
  }

  get(symbol: string): Instrument | undefined {
    return this.#active.get(symbol) ?? this.#all().get(symbol);
  }

  /** Lists all 12,000. Identifiers rise in the list's order, and the active ones come first. */
  values(): MapIterator<Instrument> {
    return this.#all().values();
  }

  /** Lists the instruments that are traded actively. */
  active(): readonly Instrument[] {
    return [...this.#active.values()];
  }

  /** Invents the inactive ones on the first request for one, because that takes fifteen times as long. */
  #all(): ReadonlyMap<string, Instrument> {
    this.#whole ??= withQuiet(this.seed, this.#active);
    return this.#whole;
  }
}

let latestUniverse: Universe | undefined;

/** Creates a universe, or reuses the last one for the same seed: tests with many worlds would wait for each. */
export function createUniverse(seed: number): Universe {
  if (latestUniverse?.seed !== seed) latestUniverse = new Universe(seed);
  return latestUniverse;
}

function inventActive(seed: number): ReadonlyMap<string, Instrument> {
  const universe = new Map<string, Instrument>();
  const addFamiliar = (category: Category, prices: Readonly<Record<string, number>>) => {
    for (const [symbol, basePrice] of Object.entries(prices)) {
      const draft = { kind: 'plain', symbol, category, basePrice, index: universe.size } as const;
      universe.set(symbol, createInstrument(seed, draft));
    }
  };
  addFamiliar('US_STOCK', familiarStocks);
  addFamiliar('US_ETF', familiarEtfs);
  const { US_STOCK: stocks, US_ETF: etfs } = sizes;
  addInvented(universe, seed, 'active', 'US_STOCK', stocks.active - Object.keys(familiarStocks).length);
  addInvented(universe, seed, 'active', 'US_ETF', etfs.active - Object.keys(familiarEtfs).length);
  return universe;
}

function withQuiet(seed: number, active: ReadonlyMap<string, Instrument>): ReadonlyMap<string, Instrument> {
  const universe = new Map(active);
  for (const category of ['US_STOCK', 'US_ETF'] as const)
    addInvented(universe, seed, 'quiet', category, sizes[category].all - sizes[category].active);
  return universe;
}

function addInvented(
  universe: Map<string, Instrument>,
  seed: number,
  kind: 'active' | 'quiet',
  category: Category,
  count: number,
): void {
  const noise = hashOf(seed, kind === 'active' ? category : `${kind} ${category}`);
  for (let added = 0, attempt = 0; added < count; attempt++) {
    const chance = mix(noise, attempt);
    const symbol = ticker(chance, kind === 'active' ? 4 : lengthOf(chance, category));
    if (universe.has(symbol)) continue;
    const draft = { kind, symbol, category, basePrice: priceFrom(chance), index: universe.size };
    universe.set(symbol, createInstrument(seed, draft));
    added++;
  }
}

/** Chooses the length of a ticker: most have three letters or more. Invented active ones all have four. */
function lengthOf(chance: number, category: Category): number {
  const place = mix(chance, 8) % 1000;
  if (category === 'US_ETF') return place < 300 ? 3 : 4;
  return place < 2 ? 1 : place < 30 ? 2 : place < 300 ? 3 : place < 800 ? 4 : 5;
}

function ticker(chance: number, length: number): string {
  let letters = '';
  for (let at = 0; at < length; at++) letters += String.fromCharCode(65 + (mix(chance, at) % 26));
  return letters;
}
