/**
 * Path of one instrument's price, as a pure function of time.
 *
 * The logarithm of the price is the sum of smooth noises, from months down to minutes, and of a jump for each
 * day. Between two knots it is a straight line, so the highest and lowest prices of any time lie on knots
 * or at its two ends.
 */

import { fraction, mix } from '../random.ts';
import type { Instrument } from './instrument.ts';

export const minutesPerDay = 1440;
/** Minutes between two knots. */
const knotMinutes = 10;
export const dayMilliseconds = minutesPerDay * 60_000;

/** Periods of the noises in minutes; longer ones swing wider, by the square root of their length. */
const periods = [64, 16, 4, 1, 1 / 4, 1 / 16, 1 / 72, 1 / 288, 1 / 1440].map((days) => days * minutesPerDay);
const swings = periods.map((period) => 0.7 * Math.sqrt(period / minutesPerDay));
const jump = 0.3;

/** Trading hours with prices of their own: regular trading, and the two sessions that snapshots report on request. */
export type Hours = 'regular' | 'extended' | 'overnight';

const sessionNoise: Readonly<Record<Hours, number>> = { regular: 0, extended: 101, overnight: 102 };
const sessionPeriod = 30;
const sessionSwing = 0.1;

/** Largest factor between the price and the base price: the sum of all swings. */
export function farthest({ dailyMove }: Instrument): number {
  return Math.exp(dailyMove * (jump + sessionSwing + swings.reduce((sum, swing) => sum + swing, 0)));
}

/** Price in cents. `minute` of the day may have a fraction, and is 1440 for the day's end. */
export function centsAt(instrument: Instrument, session: Hours, day: number, minute: number): number {
  const knot = minute - (minute % knotMinutes);
  const from = logMove(instrument, session, day, knot);
  const part = (minute - knot) / knotMinutes;
  return toCents(
    instrument,
    part === 0 ? from : from + part * (logMove(instrument, session, day, knot + knotMinutes) - from),
  );
}

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
  const ends = [from, to].map(({ day, minute }) => centsAt(instrument, session, day, minute));
  let [highest, lowest] = [-Infinity, Infinity];
  for (let { day, minute } = from; day <= to.day; day++, minute = 0) {
    const last = day < to.day ? minutesPerDay : to.minute;
    for (let knot = Math.ceil(minute / knotMinutes) * knotMinutes; knot <= last; knot += knotMinutes) {
      const move = logMove(instrument, session, day, knot);
      highest = Math.max(highest, move);
      lowest = Math.min(lowest, move);
    }
  }
  return {
    high: Math.max(...ends, toCents(instrument, highest)),
    low: Math.min(...ends, toCents(instrument, lowest)),
  };
}

const toCents = ({ basePrice }: Instrument, move: number): number =>
  Math.max(2, Math.round(100 * basePrice * Math.exp(move)));

/** Logarithm of price to base price at a knot of a day. */
function logMove(instrument: Instrument, session: Hours, day: number, minute: number): number {
  const { noise, dailyMove } = instrument;
  const time = day * minutesPerDay + minute;
  let move = jump * signedFraction(mix(mix(noise, 99), day));
  for (let octave = 0; octave < periods.length; octave++)
    move += swings[octave]! * smooth(mix(noise, octave), time / periods[octave]!);
  // The other sessions trade close to the regular price, with a noise of their own.
  if (session !== 'regular')
    move += sessionSwing * smooth(mix(noise, sessionNoise[session]), time / sessionPeriod);
  return move * dailyMove;
}

/** Smooth noise between -1 and 1 with a new chance value at every whole `x`. */
function smooth(noise: number, x: number): number {
  const left = Math.floor(x);
  return blend(signedFraction(mix(noise, left)), signedFraction(mix(noise, left + 1)), x - left);
}

function blend(left: number, right: number, part: number): number {
  const weight = part * part * (3 - 2 * part);
  return left * (1 - weight) + right * weight;
}

const signedFraction = (hash: number): number => 2 * fraction(hash) - 1;
