/**
 * Exact highest and lowest price of any time, without looking at each of its minutes: parts that cannot exceed the best
 * price found so far are skipped.
 */

import type { Instrument } from './instrument.ts';
import { boundOf, centsAt, type Hours, jumpOf, logMove, minutesPerDay, toCents } from './price-path.ts';

/** Highest and lowest price in cents. */
export interface HighLow {
  readonly high: number;
  readonly low: number;
}

/** Moment as a day since 1970 and a minute of it, with a fraction; 1440 is the day's end. */
export interface Minute {
  readonly day: number;
  readonly minute: number;
}

/** Range from one moment to another, both included. */
export function rangeOf(
  instrument: Instrument,
  from: Minute,
  to: Minute,
  session: Hours = 'regular',
): HighLow {
  const start = centsAt(instrument, session, from.day, from.minute);
  const end = centsAt(instrument, session, to.day, to.minute);
  // Only whole minutes count between the two.
  const first = from.day * minutesPerDay + Math.ceil(from.minute);
  const last = to.day * minutesPerDay + Math.floor(to.minute);
  if (first > last) return { high: Math.max(start, end), low: Math.min(start, end) };
  const most = new Search(instrument, session, 1).over(first, last, to.day);
  const least = -new Search(instrument, session, -1).over(first, last, to.day);
  return {
    high: Math.max(start, end, toCents(instrument, most)),
    low: Math.min(start, end, toCents(instrument, least)),
  };
}

/** Searches for the highest move, or, with the sign -1, for the lowest, which it returns negated. */
class Search {
  readonly #instrument: Instrument;
  readonly #session: Hours;
  readonly #sign: 1 | -1;
  #best = -Infinity;

  constructor(instrument: Instrument, session: Hours, sign: 1 | -1) {
    this.#instrument = instrument;
    this.#session = session;
    this.#sign = sign;
  }

  /** Minutes are counted from 1970; `lastDay` contains the last minute. */
  over(first: number, last: number, lastDay: number): number {
    const withinDay = (day: number, from: number, to: number): void => {
      if (to - from < 8) {
        for (let minute = from; minute <= to; minute++) this.#look(day, minute);
        return;
      }
      const start = day * minutesPerDay;
      const jump = this.#sign * jumpOf(this.#instrument.noise, day);
      const middle = (from + to) >> 1;
      this.#betterFirst(
        this.#bound(start + from, start + middle, jump),
        () => withinDay(day, from, middle),
        this.#bound(start + middle + 1, start + to, jump),
        () => withinDay(day, middle + 1, to),
      );
    };
    const overDays = (from: number, to: number): void => {
      if (from === to) {
        const start = from * minutesPerDay;
        // A day that ends within this time has its own end, before the next day's jump.
        const end = from < lastDay ? minutesPerDay : last - start;
        withinDay(from, Math.max(0, first - start), end);
        return;
      }
      const middle = (from + to) >> 1;
      this.#betterFirst(
        this.#bound(from * minutesPerDay, (middle + 1) * minutesPerDay, 1),
        () => overDays(from, middle),
        this.#bound((middle + 1) * minutesPerDay, (to + 1) * minutesPerDay, 1),
        () => overDays(middle + 1, to),
      );
    };
    overDays(Math.min(lastDay, Math.floor(first / minutesPerDay)), lastDay);
    return this.#best;
  }

  #look(day: number, minute: number): void {
    this.#best = Math.max(this.#best, this.#sign * logMove(this.#instrument, this.#session, day, minute));
  }

  #bound(from: number, to: number, jump: number): number {
    return boundOf(this.#instrument, this.#session, from, to, this.#sign, jump);
  }

  /** Searches the more promising half first, which often spares the other. */
  #betterFirst(left: number, goLeft: () => void, right: number, goRight: () => void): void {
    const leftFirst = left > right;
    if ((leftFirst ? left : right) > this.#best) (leftFirst ? goLeft : goRight)();
    if ((leftFirst ? right : left) > this.#best) (leftFirst ? goRight : goLeft)();
  }
}
