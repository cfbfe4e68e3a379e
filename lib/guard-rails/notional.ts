/**
 * What an order comes to in money: what it can cost, or bring in, when it is executed at the quotes that were read, and
 * the margin besides. What cannot be known is said, and never taken for a default.
 */

import { addDecimals, multiplyDecimals } from '../kernel/decimals.ts';
import { isContract } from './contracts.ts';
import type { Unknown } from './limits.ts';
import { hasStrayLegs, isLimited, largest, maySell, type OrderToCheck, type TradedPart } from './order.ts';

/** A price that a check takes: of a stock or fund by its symbol, of an option by its contract's. */
export interface PricedSymbol {
  readonly kind: 'stock' | 'option';
  readonly symbol: string;
}

/** Those that were read, by `priceKey`. */
export type Prices = ReadonlyMap<string, string>;

export const priceKey = ({ kind, symbol }: PricedSymbol): string => `${kind} ${symbol}`;

interface Notional {
  /** All of it; where something is unknown, what is known of it. */
  readonly value: string;
  readonly unknown?: Unknown;
}

/**
 * Shares of one contract, and those that go with it in a combination. An adjusted contract delivers something else, and has
 * no symbol here.
 */
const optionSize = '100';

const of = (name: Unknown['name'], why: string): Unknown => ({ name, why });

/** Instruments that have a price of their own to be bought at, and no quote to be sold at. */
const unpriced: ReadonlyMap<string | undefined, Unknown> = new Map([
  ['CRYPTO', of('crypto', 'the gateway has no quotes of crypto; a BUY with a limit_price needs none')],
  ['EVENT', of('event', 'the order names no event_outcome; a BUY with a limit_price needs none')],
]);

export const stray = of('contract', 'only option orders have legs');
export const unnamed = of('order', 'the order does not say what it trades: instrument_type is missing');

const isOfOptions = ({ instrument, parts }: OrderToCheck): boolean =>
  instrument === 'OPTION' || parts.some((part) => part.instrument === 'OPTION');

const isCombination = ({ parts }: OrderToCheck): boolean => parts.length > 1;

const isPurchase = (order: OrderToCheck): boolean => !isCombination(order) && !maySell(order);

const sizeOf = (order: OrderToCheck): string => (isOfOptions(order) ? optionSize : '1');

export const unquoted = ({ symbol = '', written }: Partial<TradedPart> = {}): Unknown =>
  of('price', `no fresh quote of ${isContract(symbol) ? symbol : (written ?? 'it')} could be read`);

const quantityInstead = 'Name a quantity instead.';
/** Advice to a client whose order needs a quote that could not be read. */
export const readAgain = 'Check the symbol, or send the order again in a few seconds.';
const limitInstead = `${readAgain} A purchase with a limit_price needs no quote.`;

/** Why it is not known how much an amount buys; undefined for stocks and funds, which have a quote for it. */
export function unknownByAmount({ instrument }: OrderToCheck): Unknown | undefined {
  if (instrument === undefined) return unnamed;
  if (instrument === 'EQUITY') return undefined;
  const why = 'the gateway does not know how much the amount buys';
  if (instrument === 'OPTION') return { ...of('price', why), remedy: quantityInstead };
  return { ...of(instrument.toLowerCase() as Unknown['name'], why), remedy: quantityInstead };
}

/** Whether quotes say what a quantity comes to: its own limit price bounds what a purchase of one thing costs. */
const needsQuotes = (order: OrderToCheck): boolean =>
  order.quantity !== undefined && (isCombination(order) || maySell(order) || !isLimited(order));

/** The quotes that the notional takes; none where it takes none, or cannot be known in any case. */
export function quotesFor(order: OrderToCheck): readonly PricedSymbol[] {
  if (order.doubt || !needsQuotes(order)) return [];
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
  const isEvent = instrument === 'EVENT';
  if (quantity === undefined) {
    // An amount says how many contracts of an event are sold only by a price that is not known.
    const isBound = amount !== undefined && !(isEvent && maySell(order));
    return { value: own, ...(!isBound && { unknown: of('order', 'the order names no quantity') }) };
  }
  if (isLimited(order) && order.limitPrice === undefined)
    return { value: own, unknown: of('order', `an order of type ${order.orderType} needs a limit_price`) };
  // A contract of an event pays one dollar at most. The price of a `no` may be quoted as that of the `yes`.
  const isBoundByPay = isEvent && order.eventOutcome !== undefined && !hasStrayLegs(order);
  if (isBoundByPay && (order.eventOutcome !== 'yes' || needsQuotes(order)))
    return { value: largest([own, quantity]) ?? own };
  if (!needsQuotes(order)) return { value: own };
  const without = unpriced.get(instrument);
  if (without !== undefined && hasStrayLegs(order)) return { value: own, unknown: stray };
  if (without !== undefined) return { value: own, unknown: without };
  const factor = addDecimals('1', hundredth(margin));
  const units = multiplyDecimals(quantity, sizeOf(order));
  let sum = '0';
  let missing = strangeIn(order);
  for (const part of order.parts) {
    const priced = pricedSymbol(part);
    const quote = priced && prices.get(priceKey(priced));
    if (quote === undefined) {
      missing ??= { ...unquoted(part), ...(isPurchase(order) && { remedy: limitInstead }) };
      continue;
    }
    // A stop price is the order's, of which a combination has none of its own for each leg.
    const price = isCombination(order) ? quote : (largest([quote, order.stopPrice]) ?? quote);
    sum = addDecimals(sum, multiplyDecimals(multiplyDecimals(price, factor), units));
  }
  return { value: largest([sum, own]) ?? sum, ...(missing && { unknown: missing }) };
}

/** Why a thing in it is not known as what it is. */
function strangeIn(order: OrderToCheck): Unknown | undefined {
  if (hasStrayLegs(order)) return stray;
  const strange = order.parts.find((part) => pricedSymbol(part) === undefined);
  if (order.instrument !== 'OPTION' || !strange) return undefined;
  return of(
    'contract',
    `symbol, strike_price, option_expire_date and option_type name no known contract of ${strange.written ?? 'a leg'}`,
  );
}

/** Its symbol is a contract's, and its type is another: which of them the upstream takes is not known. */
const isMisnamed = ({ instrument, symbol }: TradedPart): boolean =>
  instrument !== 'OPTION' && isContract(symbol);

/** Why no quote could say it; undefined where quotes or the order itself do. */
function unknownOf(order: OrderToCheck): Unknown | undefined {
  const { instrument, parts, doubt } = order;
  if (doubt) return doubt;
  const misnamed = parts.find(isMisnamed);
  if (misnamed)
    return of(
      'contract',
      `${misnamed.written} is an option contract, and instrument_type is ${misnamed.instrument}`,
    );
  if (instrument === 'FUTURES')
    return of('futures', 'the upstream does not say what one contract of futures covers');
  const isKnownKind = instrument === 'EQUITY' || instrument === 'OPTION' || unpriced.has(instrument);
  if (!isKnownKind) return unnamed;
  // Where quotes are taken, the other legs have theirs.
  return needsQuotes(order) ? undefined : strangeIn(order);
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
