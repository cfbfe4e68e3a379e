/** Times and volumes of an instrument's trades: like prices, a function of seed, symbol and time. */

import { fraction, mix } from '../random.ts';
import type { Instrument } from './instrument.ts';
import { dayMilliseconds, type Hours, type Minute, momentAt } from './prices.ts';

/** Day before which nothing was traded. */
export const marketStart = Date.UTC(2016, 0, 4);

/** Time of the last trade. Each instrument trades at a steady pace, every 0.2 to 3 seconds, first at the day's start. */
export function lastTradeTime({ noise }: Instrument, now: number): number {
  return lastOnGrid(paceOf(noise), now);
}

/** Trade before another one; before a day's first trade it is the last of the day before. */
export function tradeBefore({ noise }: Instrument, trade: number): number {
  return lastOnGrid(paceOf(noise), trade - 1);
}

/** Last step up to `now`; steps of `pace` milliseconds begin anew with each day. */
export function lastOnGrid(pace: number, now: number): number {
  const dayStart = Math.floor(now / dayMilliseconds) * dayMilliseconds;
  return dayStart + Math.floor((now - dayStart) / pace) * pace;
}

const paceOf = (noise: number) => 200 + Math.floor(2800 * fraction(mix(noise, 4)));

/** Divisors of the volume: the extended and overnight sessions trade less than regular trading. */
const volumeShare: Readonly<Record<Hours, number>> = { regular: 1, extended: 50, overnight: 200 };

/** Shares traded since the day's start. */
export function volumeUpTo(instrument: Instrument, time: number, session: Hours = 'regular'): number {
  return volumeAt(instrument, momentAt(time), session);
}

/** Shares traded from one moment to another, also over several days. */
export function volumeBetween(
  instrument: Instrument,
  from: Minute,
  to: Minute,
  session: Hours = 'regular',
): number {
  let volume = volumeAt(instrument, to, session) - volumeAt(instrument, from, session);
  for (let day = from.day; day < to.day; day++)
    volume += volumeAt(instrument, { day, minute: 1440 }, session);
  return volume;
}

/** Volume up to a moment: never less than before, and growing fastest near the day's two ends. */
function volumeAt(instrument: Instrument, { day, minute }: Minute, session: Hours): number {
  const part = minute / 1440;
  const shares = usualVolume(instrument, day) * (0.5 * part + 0.25 * ((2 * part - 1) ** 3 + 1));
  return Math.floor(Math.floor(shares) / volumeShare[session]);
}

/** Volume of the whole day. */
function usualVolume({ noise, dailyVolume }: Instrument, day: number): number {
  return dailyVolume * (0.6 + 0.8 * fraction(mix(mix(noise, 7), day)));
}

/** Best bid and ask, one basis point (at least a cent) away from the price, with the sizes. */
interface Sides {
  readonly bid: number;
  readonly ask: number;
  readonly bidSize: number;
  readonly askSize: number;
}

export function sidesAt({ noise }: Instrument, price: number, time: number): Sides {
  const half = Math.max(1, Math.round(price / 10_000));
  const lots = (side: number) => 100 * (1 + (mix(mix(noise, side), Math.floor(time / 1000)) % 9));
  return { bid: price - half, ask: price + half, bidSize: lots(6), askSize: lots(5) };
}
