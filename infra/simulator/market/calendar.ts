/** Days of the simulated market, counted from 1970, and the beginnings of bars of each length. */

import { dayMilliseconds } from './prices.ts';

export const dayOf = (time: number): number => Math.floor(time / dayMilliseconds);
export const timeOf = (day: number): number => day * dayMilliseconds;

/** Formats a day as yyyy-MM-dd. */
export const dayText = (day: number): string => new Date(timeOf(day)).toISOString().slice(0, 10);

/** Parses a day in the form yyyy-MM-dd, which must exist. */
export const dayNumber = (text: string): number => dayOf(Date.parse(`${text}T00:00:00Z`));

/** Longest that a bar can be, in seconds. */
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
  D: 86_400,
  W: 7 * 86_400,
  M: 31 * 86_400,
  Y: 366 * 86_400,
} as const;

export type Timespan = keyof typeof seconds;

/** Start of the bar that contains a moment; weeks begin on Monday. */
export function startOfBar(timespan: Timespan, time: number): number {
  const date = new Date(time);
  if (timespan === 'Y') return Date.UTC(date.getUTCFullYear(), 0);
  if (timespan === 'M') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const length = seconds[timespan] * 1000;
  // The first day of 1970 was a Thursday.
  const shift = timespan === 'W' ? 3 * dayMilliseconds : 0;
  return Math.floor((time + shift) / length) * length - shift;
}

/** Start of the bar after the one that starts at `start`. */
export const startOfNextBar = (timespan: Timespan, start: number): number =>
  startOfBar(timespan, start + seconds[timespan] * 1000);

/** Third Friday of a month (0 is January; more than 11 goes on into later years). */
export function thirdFriday(year: number, month: number): number {
  const first = dayOf(Date.UTC(year, month));
  // 2 January 1970 was a Friday.
  return first + ((((1 - first) % 7) + 7) % 7) + 14;
}
