/**
 * The invented books of every instrument's company: what each quarter earned and what is paid out. They
 * follow from the base price, so that price, earnings and dividends stand in the usual relations.
 */

import { fraction, mix } from '../random.ts';
import { dayOf, quarterEnds, timeOf } from './calendar.ts';
import type { Instrument } from './instrument.ts';

export interface Quarter {
  readonly year: number;
  /** 1 to 4. */
  readonly period: number;
  readonly endDay: number;
  readonly publishDay: number;
  /** Whole dollars. */
  readonly revenue: number;
  readonly netIncome: number;
  /** Earnings per share in cents, and what was expected of them. */
  readonly eps: number;
  readonly expectedEps: number;
  readonly expectedRevenue: number;
}

/** A number between two bounds that belongs to an instrument and a purpose. */
export function trait({ noise }: Instrument, purpose: number, from: number, to: number): number {
  return from + (to - from) * fraction(mix(noise, purpose));
}

const netMargin = (instrument: Instrument) => trait(instrument, 31, 0.05, 0.25);

/** What a quarter that ended on a day brought, or will bring. */
export function quarterOf(instrument: Instrument, endDay: number): Quarter {
  const date = new Date(timeOf(endDay));
  const [year, period] = [date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) + 1];
  const priceToEarnings = trait(instrument, 30, 9, 38);
  const growth = (1 + trait(instrument, 32, -0.03, 0.15)) ** (year + period / 4 - 2026);
  const season = 1 + 0.1 * Math.sin((Math.PI / 2) * (period + (instrument.noise % 4)));
  const surprise = 0.08 * (fraction(mix(mix(instrument.noise, 33), endDay)) - 0.4);
  const expected = ((instrument.basePrice / priceToEarnings) * growth * season) / 4;
  const netIncome = Math.round(expected * (1 + surprise) * instrument.sharesOutstanding);
  return {
    year,
    period,
    endDay,
    publishDay: endDay + 20 + (mix(instrument.noise, 34) % 25),
    netIncome,
    revenue: Math.round(netIncome / netMargin(instrument)),
    eps: Math.max(1, Math.round((100 * netIncome) / instrument.sharesOutstanding)),
    expectedEps: Math.max(1, Math.round(100 * expected)),
    expectedRevenue: Math.round((expected * instrument.sharesOutstanding) / netMargin(instrument)),
  };
}

/** The quarters whose books are published, the newest first. */
export function publishedQuarters(instrument: Instrument, now: number, count: number): readonly Quarter[] {
  const ends = quarterEnds(dayOf(now), count + 1).map((endDay) => quarterOf(instrument, endDay));
  return ends.filter((quarter) => quarter.publishDay <= dayOf(now)).slice(0, count);
}

/** The quarter that is published next. */
export function nextQuarter(instrument: Instrument, now: number): Quarter {
  const [ended] = quarterEnds(dayOf(now), 1);
  const last = quarterOf(instrument, ended!);
  if (last.publishDay > dayOf(now)) return last;
  // Any day of the quarter after the next one tells when the next one ends.
  return quarterOf(instrument, quarterEnds(ended! + 95, 1)[0]!);
}

/** Earnings per share of the last four published quarters, in cents. */
export function yearlyEps(instrument: Instrument, now: number): number {
  return publishedQuarters(instrument, now, 4).reduce((sum, { eps }) => sum + eps, 0);
}

export interface Dividend {
  /** In cents. */
  readonly amount: number;
  readonly declareDay: number;
  readonly exDay: number;
  readonly payDay: number;
}

/** What a share pays each quarter, in cents: between nearly nothing and eight percent a year. */
export function quarterlyDividend(instrument: Instrument): number {
  const yearly = 0.002 + 0.078 * trait(instrument, 35, 0, 1) ** 2;
  return Math.max(1, Math.round(25 * instrument.basePrice * yearly));
}

/** The dividends that are declared, the newest first. */
export function dividendsOf(instrument: Instrument, now: number, count: number): readonly Dividend[] {
  const amount = quarterlyDividend(instrument);
  const exDays = quarterEnds(dayOf(now), count + 1).map((end) => end + 30 + (mix(instrument.noise, 36) % 25));
  return exDays
    .map((exDay) => ({ amount, declareDay: exDay - 21, exDay, payDay: exDay + 14 }))
    .filter(({ declareDay }) => declareDay <= dayOf(now))
    .slice(0, count);
}
