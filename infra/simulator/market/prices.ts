/**
 * Prices as a function of seed, symbol and time, so that a run can be repeated and any moment can be asked for in any
 * order.
 *
 * The simulated market never closes. Its day starts at 00:00 UTC; the first price of a day differs a little from the last
 * of the day before.
 */

import type { Instrument } from './instrument.ts';
import {
  centsAt,
  dayMilliseconds,
  type HighLow,
  type Hours,
  type Minute,
  minutesPerDay,
  rangeOf,
} from './price-path.ts';

export { dayMilliseconds, type HighLow, type Hours, type Minute, rangeOf } from './price-path.ts';

/** Prices of a day, in cents. */
interface DayPrices extends HighLow {
  readonly open: number;
  readonly price: number;
  /** Last price of the day before. */
  readonly previousClose: number;
}

/** Cache of each instrument's last result: a later question on the same day searches only the time since then. */
const dayCache = new WeakMap<Instrument, DayPrices & { readonly time: number; readonly session: Hours }>();

/** Prices of the day up to `time` (Unix milliseconds), which is included. */
export function dayPricesAt(instrument: Instrument, time: number, session: Hours = 'regular'): DayPrices {
  const known = dayCache.get(instrument);
  if (known?.time === time && known.session === session) return known;
  const moment = momentAt(time);
  const { day } = moment;
  const isLater = known?.session === session && known.time < time && momentAt(known.time).day === day;
  const from = isLater ? momentAt(known.time) : { day, minute: 0 };
  const { high, low } = rangeOf(instrument, from, moment, session);
  const prices = {
    time,
    session,
    open: centsAt(instrument, session, day, 0),
    high: isLater ? Math.max(high, known.high) : high,
    low: isLater ? Math.min(low, known.low) : low,
    price: priceOf(instrument, moment, session),
    previousClose: centsAt(instrument, session, day - 1, minutesPerDay),
  };
  dayCache.set(instrument, prices);
  return prices;
}

export function momentAt(time: number): Minute {
  const day = Math.floor(time / dayMilliseconds);
  return { day, minute: (time - day * dayMilliseconds) / 60_000 };
}

/** Price at a time, in cents. */
export const priceAt = (instrument: Instrument, time: number, session?: Hours): number =>
  priceOf(instrument, momentAt(time), session);

/** Price at a moment, in cents. */
export const priceOf = (instrument: Instrument, moment: Minute, session: Hours = 'regular'): number =>
  centsAt(instrument, session, moment.day, moment.minute);
