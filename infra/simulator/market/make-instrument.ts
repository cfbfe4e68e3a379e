/** Invents an instrument: all its properties except the symbol follow from the seed. */

import { fraction, hashOf, mix } from '../random.ts';
import type { Category, Instrument, SubCategory } from './instrument.ts';

/** Shares on an average day from which on an instrument is traded actively. */
const activeVolume = 200_000;

/** Kind of a draft; `plain` is an ordinary share or fund that can be traded freely, and actively is. */
type DraftKind = 'plain' | 'active' | 'quiet';

export interface Draft {
  readonly kind: DraftKind;
  readonly symbol: string;
  readonly category: Category;
  readonly basePrice: number;
  /** Number of instruments that were made before it. */
  readonly index: number;
}

const exchanges: Readonly<Record<Category, readonly string[]>> = {
  US_STOCK: ['NSQ', 'NYSE', 'NSQ', 'NYSE', 'ASE'],
  US_ETF: ['PSE', 'BTS'],
};

/** Rare properties: a few invented stocks are no ordinary shares, and a few instruments cannot be traded freely. */
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
    name: `${symbol} ${isFund ? 'Index ETF' : 'Holdings Inc'}`,
    exchangeCode: exchanges[category][mix(noise, 10) % exchanges[category].length]!,
    subCategory: isFund ? 'ETF' : (oddSubCategories[oddity] ?? 'COMMON_STOCK'),
    status: oddStatuses[oddity] ?? 'OC',
    basePrice,
    dailyMove: isFund ? 0.01 : 0.01 + 0.02 * fraction(mix(noise, 1)),
    dailyVolume: Math.round(kind === 'quiet' ? 200 * 900 ** share : activeVolume * 250 ** share),
    sharesOutstanding: Math.round(50_000_000 * 200 ** fraction(mix(noise, 3))),
    noise,
  };
}

/** Spreads prices evenly over magnitudes, as real ones are: about 8 to 400 dollars. */
export const priceFrom = (chance: number) => Math.round(8 * 50 ** fraction(mix(chance, 9)) * 100) / 100;
