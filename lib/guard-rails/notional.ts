/**
 * The notional of an order: the money that it can cost or bring in when it is executed at the quotes that were read, plus
 * the margin. A value that cannot be known is reported as unknown, and never replaced by a default.
 */

import { addDecimals, multiplyDecimals } from '../kernel/decimals.ts';
import { isContract } from './contracts.ts';
import type { Unknown } from './limits.ts';
import { hasStrayLegs, isLimited, largest, maySell, type OrderToCheck, type TradedPart } from './order.ts';

/** An instrument whose price a check needs: a stock or fund by its symbol, an option by its contract's symbol. */
export interface PricedSymbol {
  readonly kind: 'stock' | 'option';
  readonly symbol: string;
}

/** Prices that were read, by `priceKey`. */
export type Prices = ReadonlyMap<string, string>;

export const priceKey = ({ kind, symbol }: PricedSymbol): string => `${kind} ${symbol}`;

interface Notional {
  /** The whole notional; where a part is unknown, the known part. */
  readonly value: string;
  readonly unknown?: Unknown;
}

/**
 * Shares of one contract, and of the stock leg that goes with it in a combination. Adjusted contracts, which deliver
 * something else, are never valued.
 */
const optionSize = '100';

const of = (name: Unknown['name'], why: string): Unknown => ({ name, why });

/** Instruments without quotes: only a purchase with its own limit price can be valued. */
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

/** The reason why the quantity that an amount buys is unknown; undefined for stocks and funds, which have quotes. */
export function unknownByAmount({ instrument }: OrderToCheck): Unknown | undefined {
  if (instrument === undefined) return unnamed;
  if (instrument === 'EQUITY') return undefined;
  const why = 'the gateway does not know how much the amount buys';
  if (instrument === 'OPTION') return { ...of('price', why), remedy: quantityInstead };
  return { ...of(instrument.toLowerCase() as Unknown['name'], why), remedy: quantityInstead };
}

/** Whether the order's value needs quotes; a purchase of one instrument is bounded by its own limit price instead. */
const needsQuotes = (order: OrderToCheck): boolean =>
  order.quantity !== undefined && (isCombination(order) || maySell(order) || !isLimited(order));

/** The quotes that the notional needs; none where it needs none, or cannot be known in any case. */
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
 * The notional of an order. For a purchase with a limit price, it is price × quantity × size. For any other order, it is
 * the quote, or a higher stop price, plus the margin, or a higher limit price: a sale brings what the market pays, however
 * low its limit. A combination counts the sum of its legs, none offset against another. An order by amount counts the
 * amount; one that also names a quantity, the larger value.
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
    // For a sale of event contracts by amount, the number of contracts depends on a price that is not known.
    const isBound = amount !== undefined && !(isEvent && maySell(order));
    return { value: own, ...(!isBound && { unknown: of('order', 'the order names no quantity') }) };
  }
  if (isLimited(order) && order.limitPrice === undefined)
    return { value: own, unknown: of('order', `an order of type ${order.orderType} needs a limit_price`) };
  // An event contract pays at most one dollar. The price of a `no` may be quoted as that of the `yes`.
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
    // A stop price applies to the whole order; the legs of a combination have none of their own.
    const price = isCombination(order) ? quote : (largest([quote, order.stopPrice]) ?? quote);
    sum = addDecimals(sum, multiplyDecimals(multiplyDecimals(price, factor), units));
  }
  return { value: largest([sum, own]) ?? sum, ...(missing && { unknown: missing }) };
}

/** The reason why an instrument in the order cannot be identified; undefined where all can. */
function strangeIn(order: OrderToCheck): Unknown | undefined {
  if (hasStrayLegs(order)) return stray;
  const strange = order.parts.find((part) => pricedSymbol(part) === undefined);
  if (order.instrument !== 'OPTION' || !strange) return undefined;
  return of(
    'contract',
    `symbol, strike_price, option_expire_date and option_type name no known contract of ${strange.written ?? 'a leg'}`,
  );
}

/** Whether the symbol is a contract's but the type is not OPTION, so that the upstream may trade either. */
const isMisnamed = ({ instrument, symbol }: TradedPart): boolean =>
  instrument !== 'OPTION' && isContract(symbol);

/** The reason why no quote can give the value; undefined where quotes or the order itself can. */
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
  // Where quotes are needed, the other legs are checked with their own.
  return needsQuotes(order) ? undefined : strangeIn(order);
}

/** The notional by the order's own price, quantity and amount. */
function ownNotional(order: OrderToCheck): string {
  const { limitPrice, quantity, amount } = order;
  const limited =
    limitPrice === undefined || quantity === undefined
      ? undefined
      : multiplyDecimals(multiplyDecimals(limitPrice, quantity), sizeOf(order));
  return largest([limited, amount]) ?? '0';
}

export const hundredth = (percent: string): string => multiplyDecimals(percent, '0.01');
