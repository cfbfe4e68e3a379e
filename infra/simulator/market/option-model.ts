/**
 * Value of an option: what exercising it would bring, and a time value that shrinks from day to day. Within a day the
 * price therefore only follows the underlying, and its highest and lowest are exact.
 */

import { fraction, mix } from '../random.ts';
import type { Traded } from './bars.ts';
import { dayText, timeOf } from './calendar.ts';
import { type Contract, endOfTrading } from './option-contracts.ts';
import { type HighLow, type Minute, priceOf, rangeOf } from './prices.ts';
import { lastOnGrid, marketStart, volumeBetween } from './tape.ts';

export const multiplier = 100;

/** Terms of a contract that the legs of positions and of orders both show. */
export const termsShown = ({ type, expiryDay }: Contract) => ({
  option_type: type,
  option_category: 'AMERICAN',
  option_expire_date: dayText(expiryDay),
  option_contract_multiplier: String(multiplier),
  option_contract_deliverable: String(multiplier),
  expiration_type: 'PM',
});

/** Days before its expiry from which a contract has prices: more than any is listed. */
const listedDays = 1200;

/** Value in cents, never less than one; the time value is highest for a strike at the base price. */
function worth({ underlying, strike, expiryDay, type }: Contract, spotCents: number, day: number): number {
  const { basePrice, dailyMove } = underlying;
  const strikeCents = strike / 10;
  const intrinsic = type === 'CALL' ? spotCents - strikeCents : strikeCents - spotCents;
  const move = dailyMove * Math.sqrt(Math.max(expiryDay - day, 0));
  const distance = strike / 1000 / basePrice - 1;
  const timeValue = 40 * Math.min(basePrice, strike / 1000) * move * Math.exp(-5 * distance ** 2);
  return Math.max(1, Math.round(Math.max(0, intrinsic) + timeValue));
}

/** Price in cents. */
export function optionPriceOf(contract: Contract, moment: Minute): number {
  return worth(contract, priceOf(contract.underlying, moment), moment.day);
}

/** Time of the last trade: contracts trade every 1 to 30 seconds, less often than their underlying, until they expire. */
export function lastOptionTrade(contract: Contract, now: number): number {
  const pace = 1000 + Math.floor(29_000 * fraction(mix(contract.noise, 3)));
  return lastOnGrid(pace, Math.min(now, endOfTrading(contract)));
}

/** Contracts traded on an average day. */
const usualContracts = (noise: number) => Math.round(20 * 200 ** fraction(mix(noise, 4)));

export function optionAsTraded(contract: Contract): Traded {
  const { underlying, noise } = contract;
  const volumeUpTo = (day: number, to: Minute) => {
    const shares = volumeBetween(underlying, { day, minute: 0 }, to);
    return Math.floor((shares * usualContracts(noise)) / underlying.dailyVolume);
  };
  return {
    from: Math.max(marketStart, timeOf(contract.expiryDay - listedDays)),
    until: endOfTrading(contract) + 1,
    lastTrade: (now) => lastOptionTrade(contract, now),
    price: (moment) => optionPriceOf(contract, moment),
    range: (from, to) => optionRange(contract, from, to),
    volume: (from, to) => volumeUpTo(from.day, to) - volumeUpTo(from.day, from),
  };
}

/** Searches day by day, because the time to expiry changes from one day to the next. */
function optionRange(contract: Contract, from: Minute, to: Minute): HighLow {
  let high = 0;
  let low = Infinity;
  for (let day = from.day; day <= to.day; day++) {
    const start = day === from.day ? from : { day, minute: 0 };
    const end = day === to.day ? to : { day, minute: 1440 };
    const ofUnderlying = rangeOf(contract.underlying, start, end);
    const ends = [worth(contract, ofUnderlying.high, day), worth(contract, ofUnderlying.low, day)];
    high = Math.max(high, ...ends);
    low = Math.min(low, ...ends);
  }
  return { high, low };
}
