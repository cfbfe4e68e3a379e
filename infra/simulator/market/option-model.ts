/**
 * Value of an option: the textbook formula over the underlying's price, with a constant volatility and a time to expiry
 * that is counted in days. Within a day the price therefore only follows the underlying, and its highest and lowest are
 * exact.
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

const interest = 0.04;
/** Days before its expiry from which a contract has prices: more than any is listed. */
const listedDays = 1200;

/** Volatility of a year; higher for strikes far from the base price, as in real markets. */
export function volatilityOf({ underlying, strike }: Contract): number {
  const distance = Math.log(strike / 1000 / underlying.basePrice);
  return underlying.dailyMove * Math.sqrt(365) * (0.8 + 0.3 * distance * distance);
}

function yearsLeft({ expiryDay }: Contract, day: number): number {
  return Math.max(expiryDay - day, 0.25) / 365;
}

interface Terms {
  readonly spot: number;
  readonly strike: number;
  readonly years: number;
  readonly volatility: number;
  readonly d1: number;
  readonly d2: number;
  /** Today's value of a dollar at expiry. */
  readonly discount: number;
}

function termsOf(contract: Contract, spotCents: number, day: number): Terms {
  const spot = spotCents / 100;
  const strike = contract.strike / 1000;
  const years = yearsLeft(contract, day);
  const volatility = volatilityOf(contract);
  const spread = volatility * Math.sqrt(years);
  const d1 = (Math.log(spot / strike) + (interest + volatility ** 2 / 2) * years) / spread;
  return { spot, strike, years, volatility, d1, d2: d1 - spread, discount: Math.exp(-interest * years) };
}

/** Value in cents, never less than one, nor than exercising the option would bring. */
function worth(contract: Contract, spotCents: number, day: number): number {
  const { spot, strike, d1, d2, discount } = termsOf(contract, spotCents, day);
  const call = spot * normalCdf(d1) - strike * discount * normalCdf(d2);
  const value = contract.type === 'CALL' ? call : call - spot + strike * discount;
  const intrinsic = contract.type === 'CALL' ? spot - strike : strike - spot;
  return Math.max(1, Math.round(100 * Math.max(value, intrinsic)));
}

interface Greeks {
  readonly delta: number;
  readonly gamma: number;
  readonly theta: number;
  readonly vega: number;
  readonly rho: number;
}

/** Greeks: changes of the option's price by a dollar, by a day, and by a hundredth of volatility or interest. */
export function greeksOf(contract: Contract, spotCents: number, day: number): Greeks {
  const { spot, strike, years, volatility, d1, d2, discount } = termsOf(contract, spotCents, day);
  const call = contract.type === 'CALL';
  const density = Math.exp(-(d1 ** 2) / 2) / Math.sqrt(2 * Math.PI);
  const decay = (-spot * density * volatility) / (2 * Math.sqrt(years));
  const carry = interest * strike * discount * normalCdf(call ? d2 : -d2);
  return {
    delta: call ? normalCdf(d1) : normalCdf(d1) - 1,
    gamma: density / (spot * volatility * Math.sqrt(years)),
    theta: (decay + (call ? -carry : carry)) / 365,
    vega: (spot * density * Math.sqrt(years)) / 100,
    rho: ((call ? 1 : -1) * strike * years * discount * normalCdf(call ? d2 : -d2)) / 100,
  };
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

/** Normal distribution, to seven digits. */
function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    (Math.exp(-(x * x) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x < 0 ? tail : 1 - tail;
}
