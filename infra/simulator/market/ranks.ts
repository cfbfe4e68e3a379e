/** The whole market at one moment, in numbers to sort by: the same that snapshots show. */

import { dayOf } from './calendar.ts';
import { dividendsOf, quarterlyDividend, yearlyEps } from './companies.ts';
import type { Category, Instrument } from './instrument.ts';
import type { Listings } from './listings.ts';
import { type DayPrices, dayMilliseconds, type Prices, priceAt, rangeOf } from './prices.ts';
import { lastTradeTime, marketStart, usualVolume, volumeUpTo } from './tape.ts';

/** What stays for a day. */
interface DailyFacts {
  /** In cents. */
  readonly eps: number;
  readonly yearlyDividend: number;
  readonly exDay: number;
  /** What is traded today over what was traded on the ten days before. */
  readonly relativeVolume: number;
}

/** Prices in cents. */
export interface Row extends DayPrices, DailyFacts {
  readonly instrument: Instrument;
  readonly volume: number;
  /** What the rank is about: the day's change, or that of another window. */
  readonly change: number;
  readonly base: number;
}

/** Highest and lowest cents of the 364 days before today. */
export interface YearRange {
  readonly high: number;
  readonly low: number;
}

export type Window =
  | 'DAY_1'
  | 'DAY_5'
  | 'MIN_3'
  | 'MIN_5'
  | 'MONTH_1'
  | 'MONTH_3'
  | 'WEEK_52'
  | 'PRE_MARKET'
  | 'AFTER_MARKET';

const minute = 60_000;
const windowLength: Readonly<Partial<Record<Window, number>>> = {
  MIN_3: 3 * minute,
  MIN_5: 5 * minute,
  DAY_5: 5 * dayMilliseconds,
  MONTH_1: 30 * dayMilliseconds,
  MONTH_3: 91 * dayMilliseconds,
  WEEK_52: 364 * dayMilliseconds,
};

/**
 * Ranks what is actively traded: the price of an instrument that is hardly traded means little, and with
 * the long tail each rank would take ten times as long. Remembers what is the same for a whole day, so that
 * it takes a few milliseconds.
 */
export class Ranks {
  readonly #listings: Listings;
  readonly #prices: Prices;
  readonly #daily = new Map<Instrument, DailyFacts>();
  #dailyOf = Number.NaN;

  constructor(listings: Listings, prices: Prices) {
    this.#listings = listings;
    this.#prices = prices;
  }

  /** Every active instrument of a category, those of one sector when one is given. */
  rows(category: Category, now: number, window: Window = 'DAY_1', sectorId?: string): readonly Row[] {
    const wanted = this.#listings
      .active(now)
      .filter((one) => one.category === category && (sectorId === undefined || one.sectorId === sectorId));
    return wanted.map((instrument) => this.#row(instrument, now, window));
  }

  #row(instrument: Instrument, now: number, window: Window): Row {
    const time = lastTradeTime(instrument, now);
    const day = this.#prices.at(instrument, time);
    const { price, base } = changeIn(instrument, day, time, window);
    const volume = volumeUpTo(instrument, time);
    return { ...day, ...this.#factsOf(instrument, now), instrument, volume, change: price - base, base };
  }

  #factsOf(instrument: Instrument, now: number): DailyFacts {
    const today = dayOf(now);
    if (this.#dailyOf !== today) {
      this.#daily.clear();
      this.#dailyOf = today;
    }
    let facts = this.#daily.get(instrument);
    if (!facts) {
      let usual = 0;
      for (let back = 1; back <= 10; back++) usual += usualVolume(instrument, today - back) / 10;
      facts = {
        eps: yearlyEps(instrument, now),
        yearlyDividend: 4 * quarterlyDividend(instrument),
        exDay: dividendsOf(instrument, now, 1)[0]?.exDay ?? today,
        relativeVolume: usualVolume(instrument, today) / usual,
      };
      this.#daily.set(instrument, facts);
    }
    return facts;
  }
}

/** One of each instrument: worlds of one seed share their instruments, and a year's search takes milliseconds. */
const years = new WeakMap<Instrument, YearRange & { readonly today: number }>();

/** Of the days before today. */
export function yearRangeOf(instrument: Instrument, now: number): YearRange {
  const today = dayOf(now);
  const known = years.get(instrument);
  if (known?.today === today) return known;
  const range = rangeOf(instrument, { day: today - 364, minute: 0 }, { day: today - 1, minute: 1440 });
  years.set(instrument, { ...range, today });
  return range;
}

/** The price now, and the one it is compared with. */
function changeIn(instrument: Instrument, day: DayPrices, time: number, window: Window) {
  // As in snapshots, the other sessions are compared with regular trading.
  if (window === 'PRE_MARKET' || window === 'AFTER_MARKET')
    return { price: priceAt(instrument, time, 'extended'), base: day.price };
  const length = windowLength[window];
  const base =
    length === undefined ? day.previousClose : priceAt(instrument, Math.max(marketStart, time - length));
  return { price: day.price, base };
}

export type SortField =
  | 'CHANGE_RATIO'
  | 'RELATIVE_VOLUME_10D'
  | 'MARKET_VALUE'
  | 'CLOSE'
  | 'PRICE'
  | 'PE_TTM'
  | 'HIGH'
  | 'LOW'
  | 'AMPLITUDE'
  | 'TURNOVER'
  | 'TURNOVER_RATE'
  | 'VOLUME'
  | 'YIELD'
  | 'DIVIDEND';

const amountOf: Readonly<Record<SortField, (row: Row) => number>> = {
  CHANGE_RATIO: ({ change, base }) => change / base,
  RELATIVE_VOLUME_10D: ({ relativeVolume }) => relativeVolume,
  MARKET_VALUE: marketValueOf,
  CLOSE: ({ price }) => price,
  PRICE: ({ price }) => price,
  PE_TTM: ({ price, eps }) => price / eps,
  HIGH: ({ high }) => high,
  LOW: ({ low }) => low,
  AMPLITUDE: ({ high, low, previousClose }) => (high - low) / previousClose,
  TURNOVER: turnoverOf,
  TURNOVER_RATE: ({ volume, instrument }) => volume / instrument.sharesOutstanding,
  VOLUME: ({ volume }) => volume,
  YIELD: ({ yearlyDividend, price }) => yearlyDividend / price,
  DIVIDEND: ({ yearlyDividend }) => yearlyDividend,
};

/** What all shares are worth, in whole dollars. */
export function marketValueOf({ price, instrument }: Pick<Row, 'price' | 'instrument'>): number {
  return Math.round((price * instrument.sharesOutstanding) / 100);
}

/** What was traded today, in whole dollars. */
export function turnoverOf({ volume, high, low }: Row): number {
  return Math.round((volume * (high + low)) / 200);
}

export type Direction = 'ASC' | 'DESC';

/** A sorted copy; what is equal stays in the order of the universe. */
export function sortBy<T>(
  records: readonly T[],
  amount: (record: T) => number,
  direction: Direction,
): readonly T[] {
  const sign = direction === 'ASC' ? 1 : -1;
  const keyed = records.map((record) => ({ record, key: sign * amount(record) }));
  return keyed.sort((a, b) => a.key - b.key).map(({ record }) => record);
}

export function sortRows(
  rows: readonly Row[],
  field: string | undefined,
  direction: Direction,
): readonly Row[] {
  return sortBy(rows, amountOf[(field ?? 'CHANGE_RATIO') as SortField], direction);
}
