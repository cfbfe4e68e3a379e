/**
 * Where prices come from: a function of seed, symbol and time, so that a run can be repeated and any moment
 * asked about in any order.
 *
 * The simulated market never closes. Its day starts at 00:00 UTC; an instrument's first price of the day
 * differs a little from its last of the day before.
 */

import type { Instrument } from './instrument.ts';
import { centsAt, dayMilliseconds, minutesPerDay, movesOfDay, type Session, toCents } from './price-path.ts';
import { type Moment, type Range, rangeOf } from './price-range.ts';

export { dayMilliseconds, type Session } from './price-path.ts';
export { type Moment, type Range, rangeOf } from './price-range.ts';

/** All prices in cents. */
export interface DayPrices {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly price: number;
  /** The last price of the day before. */
  readonly previousClose: number;
}

interface Today {
  readonly day: number;
  readonly open: number;
  readonly previousClose: number;
  readonly highs: Records;
  readonly lows: Records;
}

/**
 * The minutes at which an extreme of the day was reached, and after them the cents that it was then. There
 * are a few dozen, where cents for every minute would take ten times the room for 12,000 instruments.
 */
type Records = Int32Array;

const rememberedInstruments = 100;
/** A range of up to so many days is put together from those of its days; a longer one is looked for as a whole. */
const rememberedTogether = 31;

/** Keeps one day of extremes per instrument and session, about 1 KB each, and the ranges of past days. */
export class Prices {
  readonly #ranges = new Map<Instrument, Map<number, Range>>();
  readonly #days: Readonly<Record<Session, Map<Instrument, Today>>> = {
    regular: new Map(),
    extended: new Map(),
    overnight: new Map(),
  };

  /** The day up to `time` (Unix milliseconds), that moment included. */
  at(instrument: Instrument, time: number, session: Session = 'regular'): DayPrices {
    const { day, minute } = momentAt(time);
    const price = centsAt(instrument, session, day, minute);
    const { open, previousClose, highs, lows } = this.#dayOf(instrument, session, day);
    const whole = Math.floor(minute);
    return {
      open,
      high: Math.max(recordAt(highs, whole), price),
      low: Math.min(recordAt(lows, whole), price),
      price,
      previousClose,
    };
  }

  /** The highest and lowest cents from one moment to another, both included; whole days are remembered. */
  range(instrument: Instrument, from: Moment, to: Moment, session: Session = 'regular'): Range {
    const wholeDays = from.minute === 0 && to.minute === minutesPerDay;
    const few = to.day - from.day < rememberedTogether;
    if (!wholeDays || !few || session !== 'regular') return rangeOf(instrument, from, to, session);
    let { high, low } = this.#rangeOfDay(instrument, from.day);
    for (let day = from.day + 1; day <= to.day; day++) {
      const range = this.#rangeOfDay(instrument, day);
      high = Math.max(high, range.high);
      low = Math.min(low, range.low);
    }
    return { high, low };
  }

  #rangeOfDay(instrument: Instrument, day: number): Range {
    let days = this.#ranges.get(instrument);
    if (!days) {
      if (this.#ranges.size >= rememberedInstruments) this.#ranges.clear();
      days = new Map();
      this.#ranges.set(instrument, days);
    }
    let range = days.get(day);
    if (!range) {
      range = rangeOf(instrument, { day, minute: 0 }, { day, minute: minutesPerDay });
      days.set(day, range);
    }
    return range;
  }

  #dayOf(instrument: Instrument, session: Session, day: number): Today {
    const days = this.#days[session];
    const known = days.get(instrument);
    if (known?.day === day) return known;
    const moves = movesOfDay(instrument, session, day);
    const open = toCents(instrument, moves[0]!);
    const highs = recordsOf(instrument, moves, 1);
    const lows = recordsOf(instrument, moves, -1);
    const previousClose = centsAt(instrument, session, day - 1, minutesPerDay);
    const today = { day, open, previousClose, highs, lows };
    days.set(instrument, today);
    return today;
  }
}

/** For the sign 1 the highs of a day, for -1 its lows. */
function recordsOf(instrument: Instrument, moves: Float64Array, sign: 1 | -1): Records {
  const minutes: number[] = [];
  const cents: number[] = [];
  let best = -Infinity;
  for (let minute = 0; minute < minutesPerDay; minute++) {
    if (sign * moves[minute]! <= best) continue;
    best = sign * moves[minute]!;
    const price = toCents(instrument, moves[minute]!);
    if (price === cents.at(-1)) continue;
    minutes.push(minute);
    cents.push(price);
  }
  return Int32Array.from([...minutes, ...cents]);
}

/** What the last record up to a minute says. */
function recordAt(records: Records, minute: number): number {
  const count = records.length / 2;
  let [from, to] = [0, count];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (records[middle]! <= minute) from = middle;
    else to = middle;
  }
  return records[count + from]!;
}

export function momentAt(time: number): Moment {
  const day = Math.floor(time / dayMilliseconds);
  return { day, minute: (time - day * dayMilliseconds) / 60_000 };
}

/** The price at a time, in cents. */
export function priceAt(instrument: Instrument, time: number, session: Session = 'regular'): number {
  return priceOf(instrument, momentAt(time), session);
}

/** The price at a moment, in cents. */
export function priceOf(
  instrument: Instrument,
  { day, minute }: Moment,
  session: Session = 'regular',
): number {
  return centsAt(instrument, session, day, minute);
}

/** The last price of a day, in cents. */
export function closeOf(instrument: Instrument, day: number): number {
  return centsAt(instrument, 'regular', day, minutesPerDay);
}
