/** The pre-trade checks of a single order, and the failures that they report. */

import { shorten } from '../catalogue/faults.ts';
import { addDecimals, compareDecimals, multiplyDecimals, subtractDecimals } from '../kernel/decimals.ts';
import { namesOf, plainSymbol } from './contracts.ts';
import { type CheckName, checkNames, type SingleCheck, type TradingLimits, type Unknown } from './limits.ts';
import {
  hundredth,
  notionalOf,
  type PricedSymbol,
  type Prices,
  pricedSymbol,
  priceKey,
  quotesFor,
  stray,
  unknownByAmount,
  unnamed,
  unquoted,
} from './notional.ts';
import { absolute, hasLimitPrice, hasStrayLegs, type OrderToCheck } from './order.ts';

/** A failed check of an order. */
export interface Failure {
  readonly check: CheckName;
  /** The limit as text for the client. */
  readonly limit: string;
  /** The order's value; absent where it would reveal other users' orders. */
  readonly came?: string;
  /** JSON Pointer to the order in the request. */
  readonly at: string;
  /** Part of `came` that this order adds. */
  readonly added?: string;
  /** A value that the check needs and could not learn: the order may be within the limit. */
  readonly unknown?: Unknown;
  /** The gateway's limit has room left, but the user's share of it is used up. */
  readonly isShare?: true;
}

type Check = (
  order: OrderToCheck,
  limits: TradingLimits,
  prices: Prices,
) => Omit<Failure, 'check' | 'at'> | undefined;

const aRestricted = 'a list of symbols';
const collar = (limit: string) => `${limit} % from the last price`;

type Repetitions = NonNullable<TradingLimits['max_duplicative_orders']>;
export const repetitionsInWords = ({ orders, seconds }: Repetitions) => `${orders} within ${seconds} s`;

/** Text in place of an unknown value. */
export const notKnown = 'not known';

/** The part of a failure for an order that lacks a member the check needs, or could not be looked up. */
const unsaid = ({ doubt }: Pick<OrderToCheck, 'doubt'>, member: string) => ({
  came: notKnown,
  unknown: doubt ?? { name: 'order' as const, why: `the order names no ${member}` },
});

const namedBy = (names: readonly string[], contract: string | undefined): readonly string[] =>
  contract === undefined ? names : [...names, contract];

const single: Readonly<Record<SingleCheck, Check>> = {
  restricted_symbols: (order, { restricted_symbols: limit }) => {
    if (!limit) return undefined;
    const { symbols } = order;
    const restricted = new Set(limit.map(plainSymbol));
    const all = symbols.map((one) => ({ ...one, ...namesOf(one.symbol, one.instrument) }));
    const found = all.find(({ names, contract }) =>
      namedBy(names, contract).some((name) => restricted.has(name)),
    );
    const told = aRestricted;
    if (found) return { limit: told, came: found.symbol };
    const other = all.find(({ isKnown, isContradictory }) => !isKnown || isContradictory);
    if (other)
      return {
        limit: told,
        came: other.symbol,
        unknown: { name: 'contract', why: `the underlying of ${shorten(other.symbol)} is ${notKnown}` },
      };
    return all.length > 0 ? undefined : { limit: told, ...unsaid(order, 'symbol') };
  },
  allowed_symbols: (order, { allowed_symbols: limit }) => {
    if (!limit) return undefined;
    const { symbols } = order;
    const told = limit.join(', ') || 'none';
    if (symbols.length === 0) return { limit: told, ...unsaid(order, 'symbol') };
    const [exactly, plainly] = [new Set(upper(limit)), new Set(limit.map(plainSymbol))];
    const other = symbols.find(({ symbol, instrument, contract, isContradictory }) => {
      const { names, isClass } = namesOf(symbol, instrument);
      const isAllowed =
        exactly.has(symbol.toUpperCase()) ||
        (isClass && namedBy(names, contract).some((name) => plainly.has(name)));
      return isContradictory || !isAllowed;
    });
    return other && { limit: told, came: other.symbol };
  },
  allowed_sides: (order, { allowed_sides: limit }) => notAmong(order.sides, limit, unsaid(order, 'side')),
  allowed_order_types: (order, { allowed_order_types: limit }) =>
    notAmong(order.orderType === undefined ? [] : [order.orderType], limit, unsaid(order, 'order_type')),
  allowed_sessions: (order, { allowed_sessions: limit }) =>
    notAmong(order.sessions, limit, unsaid(order, 'support_trading_session')),
  max_order_quantity: (order, limits, prices) => {
    const { max_order_quantity: limit } = limits;
    const { quantity, amount, doubt } = order;
    if (limit === undefined) return undefined;
    const failed = quantity === undefined ? undefined : above(quantity, limit);
    // The known quantity may exceed the limit already.
    if (failed) return failed;
    if (doubt || (quantity ?? amount) === undefined) return { limit, ...unsaid(order, 'quantity') };
    if (hasStrayLegs(order)) return { limit, came: notKnown, unknown: stray };
    // With an amount, the upstream may ignore the quantity beside it.
    return amount === undefined ? undefined : boughtAbove(limit, amount, order, limits, prices);
  },
  max_order_notional: (order, limits, prices) => {
    const { max_order_notional: limit } = limits;
    if (limit === undefined) return undefined;
    const { value, unknown } = notionalOf(order, prices, marginOf(limits));
    // The known part of the value may exceed the limit already.
    return above(value, limit) ?? (unknown && { limit, came: notKnown, unknown });
  },
  price_collar: (order, { price_collar: limit }, allPrices) => {
    const { instrument, doubt } = order;
    if (limit === undefined || (instrument !== undefined && instrument !== 'EQUITY')) return undefined;
    const told = collar(limit);
    const prices = [order.limitPrice, order.stopPrice].filter((price) => price !== undefined);
    const last = lastPriceOf(order, allPrices);
    const far = last === undefined ? undefined : prices.find((price) => isFar(price, last, limit));
    if (far !== undefined) return { limit: told, came: `${far}; last price ${last}` };
    if (instrument === undefined || doubt) return { limit: told, came: notKnown, unknown: doubt ?? unnamed };
    if (prices.length === 0 && !hasLimitPrice(order)) return undefined;
    if (prices.length === 0 || last === undefined)
      return {
        limit: told,
        came: `${prices[0] ?? notKnown}; last price ${last ?? notKnown}`,
        unknown:
          prices.length === 0
            ? { name: 'price', why: `an order of type ${order.orderType} needs a limit_price` }
            : unquoted(order.parts[0]),
      };
    return undefined;
  },
};

/** Checks how many shares an amount buys at the last price, less the margin. */
function boughtAbove(
  limit: string,
  amount: string,
  order: OrderToCheck,
  limits: TradingLimits,
  prices: Prices,
): Failed {
  const last = lastPriceOf(order, prices);
  const unknown = unknownByAmount(order) ?? (last === undefined ? unquoted(order.parts[0]) : undefined);
  if (unknown) return { limit, came: notKnown, unknown };
  const factor = addDecimals('1', hundredth(marginOf(limits)));
  const bought = multiplyDecimals(amount, factor);
  // At the order's own prices, if they are lower, the amount buys more.
  const price = [last, order.limitPrice, order.stopPrice].find(
    (one) => one !== undefined && compareDecimals(bought, multiplyDecimals(limit, absolute(one))) > 0,
  );
  return price === undefined ? undefined : { limit, came: `what ${amount} buys at ${price}` };
}

function lastPriceOf({ parts }: OrderToCheck, prices: Prices): string | undefined {
  const priced = parts[0] && pricedSymbol(parts[0]);
  return priced && prices.get(priceKey(priced));
}

/** The checks that an order fails by itself, independent of other orders. */
export function failuresOf(order: OrderToCheck, limits: TradingLimits, prices: Prices): readonly Failure[] {
  const failed = Object.entries(single).flatMap(([name, check]) => {
    const failure = check(order, limits, prices);
    return failure ? [{ check: name as CheckName, at: order.at, ...failure }] : [];
  });
  return [...failed, ...contradicted(order, limits)];
}

/** Fails all checks of a contradictory order, because the upstream may read it as another one. */
const contradicted = (
  { at, contradiction: unknown }: OrderToCheck,
  limits: TradingLimits,
): readonly Failure[] =>
  checkNames.flatMap((check) =>
    unknown && limits[check] !== undefined && check !== 'max_orders_per_minute'
      ? [{ check, at, limit: inWords(check, limits), came: notKnown, unknown }]
      : [],
  );

/** A limit in words, for refusals. */
function inWords(check: CheckName, { [check]: limit }: TradingLimits): string {
  if (check === 'restricted_symbols') return aRestricted;
  if (check === 'price_collar') return collar(`${limit}`);
  if (Array.isArray(limit)) return limit.join(', ') || 'none';
  return typeof limit === 'object' ? repetitionsInWords(limit as Repetitions) : `${limit}`;
}

export const marginOf = ({ market_order_margin: margin = '5' }: TradingLimits): string => margin;

export const maxQuoteAgeMs = ({ max_quote_age: seconds = 15 }: TradingLimits): number => seconds * 1000;

/** Instruments whose quotes the checks of this order need. */
export function quotesTaken(order: OrderToCheck, limits: TradingLimits): readonly PricedSymbol[] {
  const { max_order_notional, max_open_notional, max_order_quantity, price_collar } = limits;
  const isValued = max_order_notional !== undefined || max_open_notional !== undefined;
  const hasPrice = order.limitPrice !== undefined || order.stopPrice !== undefined;
  const isPriced =
    (price_collar !== undefined && hasPrice) ||
    (max_order_quantity !== undefined && order.amount !== undefined);
  const ofStock = isPriced && order.instrument === 'EQUITY';
  return [
    ...(isValued ? quotesFor(order) : []),
    ...(ofStock ? order.parts.flatMap((part) => pricedSymbol(part) ?? []) : []),
  ];
}

type Failed = Omit<Failure, 'check' | 'at'> | undefined;

const above = (value: string, limit: string): Failed =>
  compareDecimals(value, limit) <= 0 ? undefined : { limit, came: value };

/** Fails a value outside the allowed ones. @param unsaid the failure of an order without a value */
function notAmong(
  values: readonly string[],
  allowed: readonly string[] | undefined,
  unsaid: Omit<NonNullable<Failed>, 'limit'>,
): Failed {
  if (!allowed) return undefined;
  const limit = allowed.join(', ') || 'none';
  if (values.length === 0) return { limit, ...unsaid };
  const other = values.find((value) => !allowed.includes(value));
  return other === undefined ? undefined : { limit, came: other };
}

const upper = (symbols: readonly string[]): readonly string[] => symbols.map((one) => one.toUpperCase());

/** Whether |price − last| > limit % of last; exact, because nothing is divided. */
const isFar = (price: string, last: string, limit: string): boolean =>
  compareDecimals(absolute(subtractDecimals(price, last)), multiplyDecimals(last, hundredth(limit))) > 0;
