/**
 * The instruments that the simulated upstream knows. A few carry tickers that people type by habit, so that
 * a first try finds something; everything else about them, and all the other instruments, is invented.
 */

import { fraction, hashOf, mix } from '../random.ts';
import { nameOf } from './names.ts';
import { sectorOf } from './sectors.ts';

export type Category = 'US_STOCK' | 'US_ETF';
export type SubCategory = 'COMMON_STOCK' | 'ETF' | 'PREFERRED_STOCK' | 'WARRANT' | 'UNITS' | 'RIGHT';

export interface Instrument {
  readonly symbol: string;
  readonly category: Category;
  readonly instrumentId: string;
  readonly name: string;
  readonly exchangeCode: string;
  readonly subCategory: SubCategory;
  /** OC tradable, CO close only, NT not tradable. */
  readonly status: 'OC' | 'CO' | 'NT';
  readonly sectorId: string;
  /** The price that the instrument's price moves around, in USD. */
  readonly basePrice: number;
  /** How far the price typically moves in a day, as a ratio. */
  readonly dailyMove: number;
  /** Shares traded on an average day. */
  readonly dailyVolume: number;
  readonly sharesOutstanding: number;
  /** Sets this instrument's chance apart from the others'. */
  readonly noise: number;
}

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

const sizes: Readonly<Record<Category, number>> = { US_STOCK: 1200, US_ETF: 150 };

export type Universe = ReadonlyMap<string, Instrument>;

/** 1200 stocks and 150 ETFs by symbol; no symbol is in both categories. */
export function createUniverse(seed: number): Universe {
  const universe = new Map<string, Instrument>();
  const add = (symbol: string, category: Category, basePrice: number) => {
    const instrument = createInstrument(seed, symbol, category, basePrice, universe.size);
    universe.set(symbol, familiar ? instrument : { ...instrument, ...oddities(instrument) });
  };
  let familiar = true;
  for (const [symbol, price] of Object.entries(familiarStocks)) add(symbol, 'US_STOCK', price);
  for (const [symbol, price] of Object.entries(familiarEtfs)) add(symbol, 'US_ETF', price);
  familiar = false;
  addInvented('US_STOCK', sizes.US_STOCK - Object.keys(familiarStocks).length);
  addInvented('US_ETF', sizes.US_ETF - Object.keys(familiarEtfs).length);
  return universe;

  function addInvented(category: Category, count: number): void {
    for (let added = 0, attempt = 0; added < count; attempt++) {
      const chance = mix(hashOf(seed, category), attempt);
      const symbol = ticker(chance);
      if (universe.has(symbol)) continue;
      // Spread evenly over magnitudes, as real prices are: about 8 to 400 dollars.
      add(symbol, category, Math.round(8 * 50 ** fraction(mix(chance, 9)) * 100) / 100);
      added++;
    }
  }
}

/** Four letters, so that the one- to three-letter tickers stay unknown or familiar. */
function ticker(chance: number): string {
  const letters = Array.from({ length: 4 }, (_, at) => String.fromCharCode(65 + (mix(chance, at) % 26)));
  return letters.join('');
}

function createInstrument(
  seed: number,
  symbol: string,
  category: Category,
  basePrice: number,
  index: number,
): Instrument {
  const noise = hashOf(seed, symbol);
  const exchanges = category === 'US_ETF' ? ['PSE', 'BTS'] : ['NSQ', 'NYSE', 'NSQ', 'NYSE', 'ASE'];
  return {
    symbol,
    category,
    instrumentId: String(930_000_017 + index * 104),
    name: nameOf(index, category),
    exchangeCode: exchanges[mix(noise, 10) % exchanges.length]!,
    subCategory: category === 'US_ETF' ? 'ETF' : 'COMMON_STOCK',
    status: 'OC',
    sectorId: sectorOf(noise).id,
    basePrice,
    dailyMove: category === 'US_ETF' ? 0.01 : 0.01 + 0.02 * fraction(mix(noise, 1)),
    dailyVolume: Math.round(200_000 * 250 ** fraction(mix(noise, 2))),
    sharesOutstanding: Math.round(50_000_000 * 200 ** fraction(mix(noise, 3))),
    noise,
  };
}

/** A few of the invented stocks are no ordinary ones, and a few instruments cannot be traded freely. */
function oddities({ noise, category }: Instrument): Partial<Instrument> {
  const kind = mix(noise, 11) % 100;
  const kinds: Readonly<Record<number, SubCategory>> = {
    0: 'PREFERRED_STOCK',
    1: 'PREFERRED_STOCK',
    2: 'WARRANT',
    3: 'UNITS',
    4: 'RIGHT',
  };
  const subCategory = category === 'US_STOCK' ? kinds[kind] : undefined;
  const status = ({ 5: 'CO', 6: 'CO', 7: 'NT' } as const)[kind];
  return { ...(subCategory && { subCategory }), ...(status && { status }) };
}
