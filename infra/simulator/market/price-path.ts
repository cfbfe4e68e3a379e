/**
 * Path of one instrument's price, as a pure function of time.
 *
 * The logarithm of the price is the sum of smooth noises, from months down to minutes, and of a jump for each
 * day. Within a minute it is a straight line, so the highest and lowest prices of any time lie on whole
 * minutes or at its two ends.
 */

import { fraction, mix } from '../random.ts';
import type { Instrument } from './instrument.ts';

export const minutesPerDay = 1440;
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
  const whole = Math.floor(minute);
  const from = logMove(instrument, session, day, whole);
  const part = minute - whole;
  return toCents(
    instrument,
    part === 0 ? from : from + part * (logMove(instrument, session, day, whole + 1) - from),
  );
}

export const toCents = ({ basePrice }: Instrument, move: number): number =>
  Math.max(2, Math.round(100 * basePrice * Math.exp(move)));

/** Logarithm of price to base price at a whole minute of a day. */
export function logMove(instrument: Instrument, session: Hours, day: number, minute: number): number {
  const { noise, dailyMove } = instrument;
  const time = day * minutesPerDay + minute;
  let move = jump * jumpOf(noise, day);
  for (let octave = 0; octave < periods.length; octave++)
    move += swings[octave]! * smooth(mix(noise, octave), time / periods[octave]!);
  // The other sessions trade close to the regular price, with a noise of their own.
  if (session !== 'regular')
    move += sessionSwing * smooth(mix(noise, sessionNoise[session]), time / sessionPeriod);
  return move * dailyMove;
}

/**
 * Upper bound of the move in all whole minutes from `from` to `to` (counted from 1970), or, with the sign -1, the negated
 * lower bound, in the unit of `logMove`. A shorter time gives a tighter bound; for one minute it is exact except for the
 * day's jump.
 */
export function boundOf(
  { noise, dailyMove }: Instrument,
  session: Hours,
  from: number,
  to: number,
  sign: 1 | -1,
  jumpBound: number,
): number {
  let bound = jump * jumpBound;
  for (let octave = 0; octave < periods.length; octave++) {
    const period = periods[octave]!;
    bound += swings[octave]! * highestBetween(mix(noise, octave), from / period, to / period, sign);
  }
  if (session !== 'regular') {
    const chance = mix(noise, sessionNoise[session]);
    bound += sessionSwing * highestBetween(chance, from / sessionPeriod, to / sessionPeriod, sign);
  }
  return bound * dailyMove;
}

/** Jump of a day, between -1 and 1. */
export const jumpOf = (noise: number, day: number): number => signedFraction(mix(mix(noise, 99), day));

/** Maximum of a noise times the sign between two places; 1 if searching would take long. */
function highestBetween(noise: number, from: number, to: number, sign: 1 | -1): number {
  const first = Math.floor(from);
  const last = Math.floor(to);
  if (last - first > 4) return 1;
  let left = sign * signedFraction(mix(noise, first));
  let right = sign * signedFraction(mix(noise, first + 1));
  let most = blend(left, right, from - first);
  // The noise only rises or only falls between two knots.
  for (let knot = first + 1; knot <= last; knot++) {
    most = Math.max(most, right);
    left = right;
    right = sign * signedFraction(mix(noise, knot + 1));
  }
  return Math.max(most, blend(left, right, to - last));
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
