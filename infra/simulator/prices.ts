/**
 * Where prices come from: a function of seed, symbol and time, so that a run can be repeated and any moment
 * asked about in any order.
 *
 * The simulated market never closes. Its day starts at 00:00 UTC; an instrument's first price of the day
 * differs a little from its last of the day before. The logarithm of the price is the sum of smooth noises,
 * from months down to minutes; within a minute it is a straight line, so a day's highest and lowest prices
 * lie on whole minutes or at the moment asked about, and are exact.
 */

import { fraction, mix } from './random.ts';
import type { Instrument } from './universe.ts';

const minutesPerDay = 1440;
export const dayMilliseconds = minutesPerDay * 60_000;

/** Periods of the noises in minutes; longer ones swing wider, by the square root of their length. */
const periods = [64, 16, 4, 1, 1 / 4, 1 / 16, 1 / 72, 1 / 288, 1 / 1440].map((days) => days * minutesPerDay);
const swings = periods.map((period) => 0.7 * Math.sqrt(period / minutesPerDay));

/** The prices of regular trading, and those of the two sessions that snapshots report on request. */
export type Session = 'regular' | 'extended' | 'overnight';

const sessionNoise: Readonly<Record<Session, number>> = { regular: 0, extended: 101, overnight: 102 };

/** All prices in cents. */
export interface DayPrices {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly price: number;
  /** The last price of the day before. */
  readonly previousClose: number;
}

interface Extremes {
  readonly day: number;
  /** Highest and lowest cents from the day's start to each minute. */
  readonly highs: Int32Array;
  readonly lows: Int32Array;
}

/** Keeps one day of extremes per instrument and session, about 12 KB each. */
export class Prices {
  readonly #extremes = new Map<string, Extremes>();

  /** The day up to `time` (Unix milliseconds), that moment included. */
  at(instrument: Instrument, time: number, session: Session = 'regular'): DayPrices {
    const day = Math.floor(time / dayMilliseconds);
    const minute = (time - day * dayMilliseconds) / 60_000;
    const price = cents(instrument, session, day, minute);
    const { highs, lows } = this.#extremesOf(instrument, session, day);
    return {
      open: cents(instrument, session, day, 0),
      high: Math.max(highs[Math.floor(minute)]!, price),
      low: Math.min(lows[Math.floor(minute)]!, price),
      price,
      previousClose: cents(instrument, session, day - 1, minutesPerDay),
    };
  }

  #extremesOf(instrument: Instrument, session: Session, day: number): Extremes {
    const key = `${session} ${instrument.symbol}`;
    const known = this.#extremes.get(key);
    if (known?.day === day) return known;
    const highs = new Int32Array(minutesPerDay);
    const lows = new Int32Array(minutesPerDay);
    for (let minute = 0, high = 0, low = Infinity; minute < minutesPerDay; minute++) {
      const price = cents(instrument, session, day, minute);
      high = Math.max(high, price);
      low = Math.min(low, price);
      highs[minute] = high;
      lows[minute] = low;
    }
    const extremes = { day, highs, lows };
    this.#extremes.set(key, extremes);
    return extremes;
  }
}

/** `minute` of the day may have a fraction, and is 1440 for the day's end. */
function cents(instrument: Instrument, session: Session, day: number, minute: number): number {
  const whole = Math.floor(minute);
  const from = logMove(instrument, session, day, whole);
  const part = minute - whole;
  const move = part === 0 ? from : from + part * (logMove(instrument, session, day, whole + 1) - from);
  return Math.max(2, Math.round(100 * instrument.basePrice * Math.exp(move)));
}

function logMove(instrument: Instrument, session: Session, day: number, minute: number): number {
  const time = day * minutesPerDay + minute;
  let move = 0.3 * signed(mix(mix(instrument.noise, 99), day));
  // By index: this runs a thousand times for the first look at an instrument's day.
  for (let octave = 0; octave < periods.length; octave++) {
    const period = periods[octave]!;
    move += swings[octave]! * smooth(mix(instrument.noise, octave), time / period);
  }
  // The other sessions trade close to the regular price, on their own whims.
  if (session !== 'regular') move += 0.1 * smooth(mix(instrument.noise, sessionNoise[session]), time / 30);
  return move * instrument.dailyMove;
}

/** Smooth noise between -1 and 1 that takes a new chance value at every whole `x`. */
function smooth(noise: number, x: number): number {
  const left = Math.floor(x);
  const part = x - left;
  const weight = part * part * (3 - 2 * part);
  return signed(mix(noise, left)) * (1 - weight) + signed(mix(noise, left + 1)) * weight;
}

function signed(hash: number): number {
  return 2 * fraction(hash) - 1;
}
