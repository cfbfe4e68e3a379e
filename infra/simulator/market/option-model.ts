/**
 * Value of an option: what exercising it would bring, and up to a hundredth of the underlying's price. It only follows the
 * underlying, so its highest and lowest are exact.
 */

import type { Traded } from './bars.ts';
import { dayText } from './calendar.ts';
import { type Contract, endOfTrading } from './option-contracts.ts';
import { type Minute, priceOf, rangeOf } from './prices.ts';
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

/** Value in cents, never less than one. */
function worth({ strike, type }: Contract, spotCents: number): number {
  const strikeCents = strike / 10;
  const gain = type === 'CALL' ? spotCents - strikeCents : strikeCents - spotCents;
  const nearness = type === 'CALL' ? spotCents / strikeCents : strikeCents / spotCents;
  return Math.max(1, Math.round(Math.max(0, gain) + (spotCents / 100) * Math.min(1, nearness)));
}

/** Price in cents. */
export function optionPriceOf(contract: Contract, moment: Minute): number {
  return worth(contract, priceOf(contract.underlying, moment));
}

const paceMs = 7000;

/** Time of the last trade: contracts trade less often than their underlying, until they expire. */
export function lastOptionTrade(contract: Contract, now: number): number {
  return lastOnGrid(paceMs, Math.min(now, endOfTrading(contract)));
}

export function optionAsTraded(contract: Contract): Traded {
  const { underlying } = contract;
  return {
    from: marketStart,
    until: endOfTrading(contract) + 1,
    lastTrade: (now) => lastOptionTrade(contract, now),
    price: (moment) => optionPriceOf(contract, moment),
    range: (from, to) => {
      const { high, low } = rangeOf(underlying, from, to);
      const ends = [worth(contract, high), worth(contract, low)];
      return { high: Math.max(...ends), low: Math.min(...ends) };
    },
    volume: (from, to) => Math.floor(volumeBetween(underlying, from, to) / 10_000),
  };
}
