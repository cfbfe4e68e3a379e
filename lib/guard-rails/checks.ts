/** The checks of one order by itself: what they compare, and what they say of an order that fails. */

import { compareDecimals, multiplyDecimals, subtractDecimals } from '../client/decimals.ts';
import type { CheckName, TradingLimits } from './limits.ts';
import {
  absolute,
  hasLimitPrice,
  hundredth,
  needsLastPrice,
  notionalOf,
  type OrderToCheck,
} from './order.ts';

/** A check that an order fails. */
export interface Failure {
  readonly check: CheckName;
  /** As text, for the client. */
  readonly limit: string;
  /** What came; absent where it would tell of the orders of others. */
  readonly came?: string;
  /** Where the order stands in the request, as a JSON Pointer. */
  readonly at: string;
  /** The check needs a value that is not known: the order may be within the limit. */
  readonly isUnknown?: true;
}

type Check = (
  order: OrderToCheck,
  limits: TradingLimits,
  lastPrice: string | undefined,
) => Omit<Failure, 'check' | 'at'> | undefined;

const unknown = 'not known';

const single: Partial<Record<CheckName, Check>> = {
  restricted_symbols: ({ symbols }, { restricted_symbols: limit }) => {
    if (!limit) return undefined;
    const restricted = new Set(limit.map(plainSymbol));
    const found = symbols.find((symbol) => restricted.has(plainSymbol(symbol)));
    if (found === undefined && symbols.length > 0) return undefined;
    return { limit: 'a restricted symbol', ...cameOf(found) };
  },
  allowed_symbols: ({ symbols }, { allowed_symbols: limit }) => notAmong(symbols, limit && upper(limit)),
  allowed_sides: ({ sides }, { allowed_sides: limit }) => notAmong(sides, limit),
  allowed_order_types: ({ orderType }, { allowed_order_types: limit }) => notAmong([orderType], limit),
  allowed_sessions: ({ sessions }, { allowed_sessions: limit }) => notAmong(sessions, limit),
  max_order_quantity: ({ quantity }, { max_order_quantity: limit }) => above(quantity, limit),
  max_order_notional: (order, limits, lastPrice) =>
    above(notionalOf(order, lastPrice, marginOf(limits)), limits.max_order_notional),
  price_collar: (order, { price_collar: limit }, lastPrice) => {
    // Of nothing else a last price is read.
    if (order.instrument !== 'EQUITY') return undefined;
    const prices = [order.limitPrice, order.stopPrice].filter((price) => price !== undefined);
    if (limit === undefined || (prices.length === 0 && !hasLimitPrice(order))) return undefined;
    const far = prices.find((price) => lastPrice === undefined || isFar(price, lastPrice, limit));
    if (prices.length > 0 && far === undefined) return undefined;
    const from = lastPrice === undefined ? `last price ${unknown}` : `last price ${lastPrice}`;
    return {
      limit: `${limit} % from the last price`,
      came: `${far ?? unknown}; ${from}`,
      ...((far === undefined || lastPrice === undefined) && { isUnknown: true }),
    };
  },
};

/** The checks that an order fails by itself, not for other orders. */
export function failuresOf(
  order: OrderToCheck,
  limits: TradingLimits,
  lastPrice: string | undefined,
): readonly Failure[] {
  return Object.entries(single).flatMap(([name, check]) => {
    const failed = check(order, limits, lastPrice);
    return failed ? [{ check: name as CheckName, at: order.at, ...failed }] : [];
  });
}

export const marginOf = ({ market_order_margin: margin = '5' }: TradingLimits): string => margin;

export const maxQuoteAgeMs = ({ max_quote_age: seconds = 15 }: TradingLimits): number => seconds * 1000;

/** Whether a check of this order takes the last price of its symbol. */
export function takesLastPrice(order: OrderToCheck, limits: TradingLimits): boolean {
  if (order.instrument !== 'EQUITY') return false;
  const { max_order_notional, max_open_notional, price_collar } = limits;
  const isValued = max_order_notional !== undefined || max_open_notional !== undefined;
  const hasPrice = order.limitPrice !== undefined || order.stopPrice !== undefined;
  return (isValued && needsLastPrice(order)) || (price_collar !== undefined && hasPrice);
}

function above(
  value: string | undefined,
  limit: string | undefined,
): Omit<Failure, 'check' | 'at'> | undefined {
  if (limit === undefined) return undefined;
  if (value !== undefined && compareDecimals(value, limit) <= 0) return undefined;
  return { limit, ...cameOf(value) };
}

function notAmong(
  values: readonly (string | undefined)[],
  allowed: readonly string[] | undefined,
): Omit<Failure, 'check' | 'at'> | undefined {
  if (!allowed) return undefined;
  if (values.length > 0 && values.every((value) => value !== undefined && allowed.includes(value)))
    return undefined;
  const other = values.find((value) => value === undefined || !allowed.includes(value));
  return { limit: allowed.join(', ') || 'none', ...cameOf(other) };
}

const cameOf = (value: string | undefined): Pick<Failure, 'came' | 'isUnknown'> =>
  value === undefined ? { came: unknown, isUnknown: true } : { came: value };

/** `BRK.B` and `BRK B` are one. */
export const plainSymbol = (symbol: string): string => symbol.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');

const upper = (symbols: readonly string[]): readonly string[] => symbols.map((one) => one.toUpperCase());

/** Exactly: |price − last| > limit % of last, without a division. */
const isFar = (price: string, last: string, limit: string): boolean =>
  compareDecimals(absolute(subtractDecimals(price, last)), multiplyDecimals(last, hundredth(limit))) > 0;
