/** What an instrument is like: everything about it but its symbol follows from the seed. */

import { fraction, hashOf, mix } from '../random.ts';
import type { Category, Instrument, SubCategory } from './instrument.ts';
import { nameOf } from './names.ts';
import { sectorOf } from './sectors.ts';

/** Shares on an average day from which on an instrument is traded actively. */
const activeVolume = 200_000;

/** `plain` is an ordinary share or fund that can be traded freely, and actively is. */
export type DraftKind = 'plain' | 'active' | 'quiet';

export interface Draft {
  readonly kind: DraftKind;
  readonly symbol: string;
  readonly category: Category;
  readonly basePrice: number;
  /** How many instruments there were before it. */
  readonly index: number;
}

const exchanges: Readonly<Record<Category, readonly string[]>> = {
  US_STOCK: ['NSQ', 'NYSE', 'NSQ', 'NYSE', 'ASE'],
  US_ETF: ['PSE', 'BTS'],
};

/** A few of the invented stocks are no ordinary ones, and a few instruments cannot be traded freely. */
const oddSubCategories: readonly SubCategory[] = [
  'PREFERRED_STOCK',
  'PREFERRED_STOCK',
  'WARRANT',
  'UNITS',
  'RIGHT',
];
const oddStatuses: Readonly<Record<number, Instrument['status']>> = { 5: 'CO', 6: 'CO', 7: 'NT' };

export function createInstrument(
  seed: number,
  { kind, symbol, category, basePrice, index }: Draft,
): Instrument {
  const noise = hashOf(seed, symbol);
  const oddity = kind === 'plain' ? 99 : mix(noise, 11) % 100;
  const isFund = category === 'US_ETF';
  const share = fraction(mix(noise, 2));
  return {
    symbol,
    category,
    instrumentId: String(930_000_017 + index * 104),
    name: nameOf(index, category),
    exchangeCode: exchanges[category][mix(noise, 10) % exchanges[category].length]!,
    subCategory: isFund ? 'ETF' : (oddSubCategories[oddity] ?? 'COMMON_STOCK'),
    status: oddStatuses[oddity] ?? 'OC',
    sectorId: sectorOf(noise).id,
    basePrice,
    dailyMove: isFund ? 0.01 : 0.01 + 0.02 * fraction(mix(noise, 1)),
    dailyVolume: Math.round(kind === 'quiet' ? 200 * 900 ** share : activeVolume * 250 ** share),
    sharesOutstanding: Math.round(50_000_000 * 200 ** fraction(mix(noise, 3))),
    noise,
  };
}

/** Spread evenly over magnitudes, as real prices are: about 8 to 400 dollars. */
export const priceFrom = (chance: number) => Math.round(8 * 50 ** fraction(mix(chance, 9)) * 100) / 100;
