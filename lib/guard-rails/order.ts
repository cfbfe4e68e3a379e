/** What pre-trade checks know of an order: read from the JSON that is sent. Numbers stay texts. */

import { addDecimals, compareDecimals, multiplyDecimals, plainDecimal } from '../client/decimals.ts';
import { textMembers, textOf } from '../json-members.ts';
import { elementsOf, membersOf } from '../json-scan.ts';

export interface OrderToCheck {
  /** Where it stands in the request, as a JSON Pointer. */
  readonly at: string;
  /** In upper case, those of legs among them; none where it is not known what the order is. */
  readonly symbols: readonly string[];
  readonly sides: readonly string[];
  readonly orderType: string | undefined;
  readonly sessions: readonly string[];
  readonly instrument: string;
  /** Never negative. Undefined for an order by amount, and where it is not known. */
  readonly quantity: string | undefined;
  /** In money, of an order by amount; never negative. */
  readonly amount: string | undefined;
  readonly limitPrice: string | undefined;
  readonly stopPrice: string | undefined;
  /** It has a limit price, and a replacement may have taken that away. */
  readonly mayBeUnlimited?: boolean;
  /** A replacement is not the repetition of an order. */
  readonly isReplacement: boolean;
}

const members = [
  'symbol',
  'side',
  'order_type',
  'support_trading_session',
  'instrument_type',
  'entrust_type',
  'quantity',
  'total_quantity',
  'total_cash_amount',
  'limit_price',
  'stop_price',
] as const;

type Member = (typeof members)[number];
type Members = ReadonlyMap<string, string>;

/**
 * @param json an order as the interface places it, or shows it
 * @param replaced what a replacement changes of it
 */
export function orderToCheck(json: string, at: string, replaced?: string): OrderToCheck {
  const before = membersIn(json);
  const changes = replaced === undefined ? new Map<string, string>() : membersIn(replaced);
  const legs = legsIn(json);
  const changedLegs = replaced === undefined ? [] : legsIn(replaced);
  const each = [before, changes, ...legs];
  const now = (name: Member) => changes.get(name) ?? before.get(name);
  const quantity = largestOf([
    now('quantity') ?? before.get('total_quantity'),
    // Of a changed leg it is not known which one it is.
    ...[...legs, ...changedLegs].map((leg) => leg.get('quantity')),
  ]);
  const isByAmount = now('entrust_type') === 'AMOUNT' || quantity === undefined;
  return {
    at,
    // What no replacement changes by the catalogue, the upstream may change or not: both are checked.
    symbols: distinct(each.map((one) => one.get('symbol')?.toUpperCase())),
    sides: distinct(each.map((one) => one.get('side'))),
    orderType: now('order_type'),
    sessions: distinct([
      before.get('support_trading_session') ?? 'CORE',
      changes.get('support_trading_session'),
    ]),
    instrument: before.get('instrument_type') ?? 'EQUITY',
    quantity,
    amount: largestOf([
      isByAmount ? before.get('total_cash_amount') : undefined,
      changes.get('total_cash_amount'),
    ]),
    limitPrice: decimalOf(now('limit_price')),
    stopPrice: decimalOf(now('stop_price')),
    isReplacement: replaced !== undefined,
  };
}

/** An option is of 100 shares; what a contract of futures is of, no answer of the interface says. */
const sizes: Readonly<Record<string, string>> = { EQUITY: '1', CRYPTO: '1', EVENT: '1', OPTION: '100' };

/** Its limit price bounds what it can cost. */
const limited: ReadonlySet<string | undefined> = new Set(['LIMIT', 'STOP_LOSS_LIMIT', 'LIMIT_ON_OPEN']);

export const hasLimitPrice = ({ orderType }: OrderToCheck): boolean => limited.has(orderType);

/** Whether the notional takes the last price, where one is known. A sale brings what the market pays, however low its limit. */
export const needsLastPrice = (order: OrderToCheck): boolean =>
  (!isLimited(order) || isSale(order)) && (order.amount === undefined || order.quantity !== undefined);

const isSale = ({ sides }: OrderToCheck): boolean => sides.some((side) => side !== 'BUY');

const isLimited = (order: OrderToCheck): boolean => hasLimitPrice(order) && !order.mayBeUnlimited;

/**
 * Price × quantity × size. Of a sale with a limit price, the price is the last one where that is higher. Of an order without a limit price, the price is the last one, or the stop price when that is
 * higher, and the margin besides. Of an order by amount it is the amount; of one that names a quantity, too, the larger.
 *
 * @param margin in percent
 * @returns undefined when it is not known
 */
export function notionalOf(
  order: OrderToCheck,
  lastPrice: string | undefined,
  margin: string,
): string | undefined {
  const { amount, quantity, instrument } = order;
  if (quantity === undefined) return amount;
  const size = sizes[instrument];
  const price = isLimited(order) ? limitedPrice(order, lastPrice) : unlimitedPrice(order, lastPrice, margin);
  if (size === undefined || price === undefined) return undefined;
  return largest([multiplyDecimals(multiplyDecimals(price, quantity), size), amount]);
}

/** A sale without a known last price counts by its limit: to block it would keep a holder from selling. */
const limitedPrice = (order: OrderToCheck, lastPrice: string | undefined): string | undefined =>
  order.limitPrice !== undefined && isSale(order) ? largest([order.limitPrice, lastPrice]) : order.limitPrice;

/** With its limit price, where that is higher: a replacement may have taken it away or not. */
function unlimitedPrice(
  { limitPrice, stopPrice }: OrderToCheck,
  lastPrice: string | undefined,
  margin: string,
): string | undefined {
  if (lastPrice === undefined) return undefined;
  const price = largest([lastPrice, stopPrice]) ?? lastPrice;
  return largest([multiplyDecimals(price, addDecimals('1', hundredth(margin))), limitPrice]);
}

export const hundredth = (percent: string): string => multiplyDecimals(percent, '0.01');

export const absolute = (value: string): string => (value.startsWith('-') ? value.slice(1) : value);

/** The largest of those that are known, without signs: a combination of options may be sold at a negative price. */
export function largest(values: readonly (string | undefined)[]): string | undefined {
  const known = values.flatMap((value) => (value === undefined ? [] : [absolute(plainDecimal(value))]));
  return known.reduce<string | undefined>(
    (most, value) => (most === undefined || compareDecimals(value, most) > 0 ? value : most),
    undefined,
  );
}

/** The same of texts; undefined when one of them is no decimal. */
function largestOf(texts: readonly (string | undefined)[]): string | undefined {
  const given = texts.filter((text) => text !== undefined).map(decimalOf);
  return given.includes(undefined) ? undefined : largest(given);
}

/** No price or quantity has more. Longer ones would make counters longer than a store takes. */
const maxDigits = 100;

/** Undefined for what is no decimal, or none of that length: the upstream refuses it, or a check does. */
function decimalOf(text: string | undefined): string | undefined {
  if (text === undefined || text.length > maxDigits) return undefined;
  try {
    const plain = plainDecimal(text);
    return plain.length > maxDigits ? undefined : plain;
  } catch {
    return undefined;
  }
}

const membersIn = (json: string | Uint8Array): Members => textMembers(json, members) ?? new Map();

function legsIn(json: string): readonly Members[] {
  const legs = membersOf(new TextEncoder().encode(json), ['legs'])?.get('legs');
  return legs && textOf(legs).startsWith('[') ? [...elementsOf(legs)].map(membersIn) : [];
}

const distinct = (values: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
];
