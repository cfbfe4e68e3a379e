/** Days of the simulated market, counted from 1970, and the beginnings of bars of each length. */

import { dayMilliseconds } from './prices.ts';

export const dayOf = (time: number): number => Math.floor(time / dayMilliseconds);
export const timeOf = (day: number): number => day * dayMilliseconds;

/** Formats a day as yyyy-MM-dd. */
export const dayText = (day: number): string => new Date(timeOf(day)).toISOString().slice(0, 10);

/** Parses a day in the form yyyy-MM-dd, which must exist. */
export const dayNumber = (text: string): number => dayOf(Date.parse(`${text}T00:00:00Z`));

const seconds = {
  S5: 5,
  S15: 15,
  M1: 60,
  M5: 300,
  M15: 900,
  M30: 1800,
  M60: 3600,
  M120: 7200,
  M240: 14_400,
} as const;

export type Timespan = keyof typeof seconds | 'D' | 'W' | 'M' | 'Y';

/** Start of the bar that contains a moment; weeks begin on Monday. */
export function startOfBar(timespan: Timespan, time: number): number {
  const date = new Date(time);
  switch (timespan) {
    case 'D':
      return timeOf(dayOf(time));
    case 'W': {
      const day = dayOf(time);
      // The first day of 1970 was a Thursday.
      return timeOf(day - ((day + 3) % 7));
    }
    case 'M':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
    case 'Y':
      return Date.UTC(date.getUTCFullYear(), 0);
    default: {
      const length = seconds[timespan] * 1000;
      return Math.floor(time / length) * length;
    }
  }
}

/** Start of the bar after the one that starts at `start`. */
export function startOfNextBar(timespan: Timespan, start: number): number {
  const date = new Date(start);
  switch (timespan) {
    case 'D':
      return start + dayMilliseconds;
    case 'W':
      return start + 7 * dayMilliseconds;
    case 'M':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    case 'Y':
      return Date.UTC(date.getUTCFullYear() + 1, 0);
    default:
      return start + seconds[timespan] * 1000;
  }
}

/** Third Friday of a month (0 is January; more than 11 goes on into later years). */
export function thirdFriday(year: number, month: number): number {
  const first = dayOf(Date.UTC(year, month));
  // 2 January 1970 was a Friday.
  return first + ((((1 - first) % 7) + 7) % 7) + 14;
}
