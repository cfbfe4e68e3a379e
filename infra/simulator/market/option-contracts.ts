/** Option contracts: the listed ones, and the form of their symbols. */

import { hashOf, mix } from '../random.ts';
import { dayNumber, dayOf, dayText, thirdFriday, timeOf } from './calendar.ts';
import type { Instrument } from './instrument.ts';
import { dayMilliseconds } from './prices.ts';
import type { Universe } from './universe.ts';

export type OptionType = 'CALL' | 'PUT';

export interface Contract {
  /** Symbol in the OCC form: underlying, yyMMdd, C or P, and the strike in thousandths with eight digits. */
  readonly symbol: string;
  readonly underlying: Instrument;
  readonly type: OptionType;
  /** Strike in thousandths of a dollar. */
  readonly strike: number;
  /** Last day on which it is traded. */
  readonly expiryDay: number;
  readonly instrumentId: string;
  readonly noise: number;
}

export function contractOf(
  underlying: Instrument,
  expiryDay: number,
  type: OptionType,
  strike: number,
): Contract {
  const date = dayText(expiryDay).replaceAll('-', '').slice(2);
  const symbol = `${underlying.symbol}${date}${type[0]}${String(strike).padStart(8, '0')}`;
  const noise = hashOf(underlying.noise, symbol);
  // 53 random bits: in practice no two contracts share a value.
  const instrumentId = String(1e15 + mix(noise, 1) * 2 ** 16 + (mix(noise, 2) >>> 16));
  return { symbol, underlying, type, strike, expiryDay, instrumentId, noise };
}

/** Finds a contract with any strike and day of a known underlying; undefined for a symbol that names none. */
export function findContract(universe: Universe, symbol: string): Contract | undefined {
  const [, root = '', date = '', letter, digits = ''] =
    /^([A-Z]{1,6})(\d{6})([CP])(\d{8})$/.exec(symbol) ?? [];
  const underlying = universe.get(root);
  const text = `20${date.slice(0, 2)}-${date.slice(2, 4)}-${date.slice(4)}`;
  const day = dayNumber(text);
  if (!underlying || Number(digits) === 0 || Number.isNaN(day) || dayText(day) !== text) return undefined;
  return contractOf(underlying, day, letter === 'C' ? 'CALL' : 'PUT', Number(digits));
}

export const strikeText = ({ strike }: Contract): string => (strike / 1000).toFixed(2);

/** End of a contract's trading, Unix time in milliseconds. */
export const endOfTrading = ({ expiryDay }: Contract): number => timeOf(expiryDay) + dayMilliseconds - 1;

/** Expiry days that are listed now: twelve months, and two Januaries after them. */
export function listedExpiries(now: number): readonly number[] {
  const today = dayOf(now);
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const monthly = Array.from({ length: 13 }, (_, ahead) => thirdFriday(year, month + ahead));
  const days = [...monthly, thirdFriday(year + 2, 0), thirdFriday(year + 3, 0)].filter((day) => day >= today);
  return [...new Set(days)].sort((a, b) => a - b);
}

/** Strikes that are listed: from half to one and a half of the base price, in the usual steps. */
export function listedStrikes({ basePrice }: Instrument): readonly number[] {
  const step = 1000 * (basePrice < 25 ? 1 : basePrice < 100 ? 2.5 : basePrice < 400 ? 5 : 10);
  const first = Math.ceil((basePrice * 500) / step);
  const last = Math.floor((basePrice * 1500) / step);
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}
