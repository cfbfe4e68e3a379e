/**
 * What an order comes to in money: what it can cost, or bring in, when it is executed at the quotes that were read, and
 * the margin besides. What cannot be known is said, and never taken for a default.
 */

import { addDecimals, multiplyDecimals } from '../kernel/decimals.ts';
import { isContract } from './contracts.ts';
import type { UnknownName } from './limits.ts';
import { hasStrayLegs, isLimited, largest, maySell, type OrderToCheck, type TradedPart } from './order.ts';

/** A price that a check takes: of a stock or fund by its symbol, of an option by its contract's. */
export interface PricedSymbol {
  readonly kind: 'stock' | 'option';
  readonly symbol: string;
}

/** Those that were read, by `priceKey`. */
export type Prices = ReadonlyMap<string, string>;

export const priceKey = ({ kind, symbol }: PricedSymbol): string => `${kind} ${symbol}`;

export interface Notional {
  /** All of it; where something is unknown, what is known of it. */
  readonly value: string;
  readonly unknown?: UnknownName;
}

/**
 * Shares of one contract, and those that go with it in a combination. An adjusted contract delivers something else, and has
 * no symbol here.
 */
const optionSize = '100';

/** What has a price of its own to be bought at, and no quote to be sold at. */
const unpriced: Readonly<Record<string, UnknownName>> = { CRYPTO: 'crypto', EVENT: 'event' };

const isOfOptions = ({ instrument, parts }: OrderToCheck): boolean =>
  instrument === 'OPTION' || parts.some((part) => part.instrument === 'OPTION');

const isCombination = ({ parts }: OrderToCheck): boolean => parts.length > 1;

const sizeOf = (order: OrderToCheck): string => (isOfOptions(order) ? optionSize : '1');

/** Whether quotes say what a quantity comes to: its own limit price bounds what a purchase of one thing costs. */
const needsQuotes = (order: OrderToCheck): boolean =>
  order.quantity !== undefined && (isCombination(order) || maySell(order) || !isLimited(order));

/** The quotes that the notional takes; none where it takes none, or cannot be known in any case. */
export function quotesFor(order: OrderToCheck): readonly PricedSymbol[] {
  if (order.isUnseen || !needsQuotes(order)) return [];
  return order.parts.flatMap((part) => pricedSymbol(part) ?? []);
}

export function pricedSymbol({ instrument, symbol }: TradedPart): PricedSymbol | undefined {
  if (symbol === undefined) return undefined;
  if (instrument === 'EQUITY') return { kind: 'stock', symbol };
  return instrument === 'OPTION' ? { kind: 'option', symbol } : undefined;
}

/**
 * Of a purchase with a limit price that price × quantity × size; of all else the quote, or a stop price that is higher,
 * and the margin besides, or the limit price where that is higher: a sale brings what the market pays, however low its
 * limit. Of a combination the sum of its legs, none of them against another. Of an order by amount the amount; of one that
 * names a quantity, too, the larger.
 *
 * @param margin in percent
 */
export function notionalOf(order: OrderToCheck, prices: Prices, margin: string): Notional {
  const { amount, quantity, instrument } = order;
  const own = ownNotional(order);
  const unknown = unknownOf(order);
  if (unknown !== undefined) return { value: own, unknown };
  if (quantity === undefined) return amount === undefined ? { value: own, unknown: 'order' } : { value: own };
  if (isLimited(order) && order.limitPrice === undefined) return { value: own, unknown: 'order' };
  if (!needsQuotes(order)) return { value: own };
  const without = unpriced[instrument ?? ''];
  if (without !== undefined) return { value: own, unknown: hasStrayLegs(order) ? 'contract' : without };
  const factor = addDecimals('1', hundredth(margin));
  const units = multiplyDecimals(quantity, sizeOf(order));
  let sum = '0';
  let missing: UnknownName | undefined = isStrange(order) ? 'contract' : undefined;
  for (const part of order.parts) {
    const priced = pricedSymbol(part);
    const quote = priced && prices.get(priceKey(priced));
    if (quote === undefined) {
      missing ??= 'price';
      continue;
    }
    // A stop price is the order's, of which a combination has none of its own for each leg.
    const price = isCombination(order) ? quote : (largest([quote, order.stopPrice]) ?? quote);
    sum = addDecimals(sum, multiplyDecimals(multiplyDecimals(price, factor), units));
  }
  return { value: largest([sum, own]) ?? sum, ...(missing && { unknown: missing }) };
}

/** A thing in it is not known as what it is. */
const isStrange = (order: OrderToCheck): boolean =>
  hasStrayLegs(order) ||
  (order.instrument === 'OPTION' && order.parts.some((part) => pricedSymbol(part) === undefined));

/** Its symbol is a contract's, and its type is another: which of them the upstream takes is not known. */
const isMisnamed = ({ instrument, symbol }: TradedPart): boolean =>
  instrument !== 'OPTION' && isContract(symbol);

/** Why no quote could say it; undefined where quotes or the order itself do. */
function unknownOf(order: OrderToCheck): UnknownName | undefined {
  const { instrument, parts, isUnseen, isUnreadable } = order;
  if (isUnseen || isUnreadable) return 'order';
  if (parts.some(isMisnamed)) return 'contract';
  if (instrument === 'FUTURES') return 'futures';
  const isKnownKind =
    instrument === 'EQUITY' || instrument === 'OPTION' || Object.hasOwn(unpriced, instrument ?? '');
  if (!isKnownKind) return 'contract';
  // Where quotes are taken, the other legs have theirs.
  return isStrange(order) && !needsQuotes(order) ? 'contract' : undefined;
}

/** By what the order says itself. */
function ownNotional(order: OrderToCheck): string {
  const { limitPrice, quantity, amount } = order;
  const limited =
    limitPrice === undefined || quantity === undefined
      ? undefined
      : multiplyDecimals(multiplyDecimals(limitPrice, quantity), sizeOf(order));
  return largest([limited, amount]) ?? '0';
}

export const hundredth = (percent: string): string => multiplyDecimals(percent, '0.01');
