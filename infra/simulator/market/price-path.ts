/**
 * The path of one instrument's price, as a pure function of time.
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

/** The prices of regular trading, and those of the two sessions that snapshots report on request. */
export type Hours = 'regular' | 'extended' | 'overnight';

const sessionNoise: Readonly<Record<Hours, number>> = { regular: 0, extended: 101, overnight: 102 };
const sessionPeriod = 30;
const sessionSwing = 0.1;

/** How far the price can ever get from the base price: the sum of all swings, as a factor. */
export function farthest({ dailyMove }: Instrument): number {
  return Math.exp(dailyMove * (jump + sessionSwing + swings.reduce((sum, swing) => sum + swing, 0)));
}

/** In cents. `minute` of the day may have a fraction, and is 1440 for the day's end. */
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

/** The logarithm of price to base price at a whole minute of a day. */
export function logMove(instrument: Instrument, session: Hours, day: number, minute: number): number {
  const { noise, dailyMove } = instrument;
  const time = day * minutesPerDay + minute;
  let move = jump * jumpOf(noise, day);
  for (let octave = 0; octave < periods.length; octave++)
    move += swings[octave]! * smooth(mix(noise, octave), time / periods[octave]!);
  // The other sessions trade close to the regular price, on their own whims.
  if (session !== 'regular')
    move += sessionSwing * smooth(mix(noise, sessionNoise[session]), time / sessionPeriod);
  return move * dailyMove;
}

/**
 * What no whole minute from `from` to `to` (counted from 1970) is above, and for the sign -1 below, in the
 * unit of `logMove`. The better the shorter the time is; for one minute it is exact but for the day's jump.
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
    bound += swings[octave]! * highest(mix(noise, octave), from / period, to / period, sign);
  }
  if (session !== 'regular') {
    const chance = mix(noise, sessionNoise[session]);
    bound += sessionSwing * highest(chance, from / sessionPeriod, to / sessionPeriod, sign);
  }
  return bound * dailyMove;
}

/** A day's jump, between -1 and 1. */
export const jumpOf = (noise: number, day: number): number => signed(mix(mix(noise, 99), day));

/** The most that a noise, times the sign, reaches between two places; 1 where looking would take long. */
function highest(noise: number, from: number, to: number, sign: 1 | -1): number {
  const first = Math.floor(from);
  const last = Math.floor(to);
  if (last - first > 4) return 1;
  let left = sign * signed(mix(noise, first));
  let right = sign * signed(mix(noise, first + 1));
  let most = blend(left, right, from - first);
  // Between two knots it only rises or only falls.
  for (let knot = first + 1; knot <= last; knot++) {
    most = Math.max(most, right);
    left = right;
    right = sign * signed(mix(noise, knot + 1));
  }
  return Math.max(most, blend(left, right, to - last));
}

/** Smooth noise between -1 and 1 that takes a new chance value at every whole `x`. */
function smooth(noise: number, x: number): number {
  const left = Math.floor(x);
  return blend(signed(mix(noise, left)), signed(mix(noise, left + 1)), x - left);
}

function blend(left: number, right: number, part: number): number {
  const weight = part * part * (3 - 2 * part);
  return left * (1 - weight) + right * weight;
}

const signed = (hash: number): number => 2 * fraction(hash) - 1;
