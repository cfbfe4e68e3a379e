/** What pre-trade checks know of an order: read from the JSON that is sent. Numbers stay texts. */

import { addDecimals, compareDecimals, multiplyDecimals, plainDecimal } from '../client/decimals.ts';
import { textMembers, textOf } from '../json-members.ts';
import { elementsOf, membersOf } from '../json-scan.ts';

export interface OrderToCheck {
  /** Where it stands in the request, as a JSON Pointer. */
  readonly at: string;
  /** In upper case, those of legs among them. */
  readonly symbols: readonly string[];
  readonly sides: readonly string[];
  readonly orderType: string | undefined;
  readonly session: string;
  readonly instrument: string;
  /** Undefined for an order by amount, and where it is not known. */
  readonly quantity: string | undefined;
  /** In money, of an order by amount. */
  readonly amount: string | undefined;
  readonly limitPrice: string | undefined;
  readonly stopPrice: string | undefined;
  /** A replacement is not the repetition of an order. */
  readonly isReplacement: boolean;
}

const members = [
  'symbol',
  'side',
  'order_type',
  'support_trading_session',
  'instrument_type',
  'quantity',
  'total_quantity',
  'total_cash_amount',
  'limit_price',
  'stop_price',
] as const;

type Members = ReadonlyMap<string, string>;

/**
 * @param json an order as the interface places it, or shows it
 * @param replaced what a replacement changes of it
 */
export function orderToCheck(json: string, at: string, replaced?: string): OrderToCheck {
  const before = membersIn(json);
  const changes = replaced === undefined ? undefined : membersIn(replaced);
  const legs = legsIn(json);
  const changedLegs = replaced === undefined ? [] : legsIn(replaced);
  const all = new Map([...before, ...(changes ?? [])]);
  const quantity = changes?.get('quantity') ?? before.get('quantity') ?? before.get('total_quantity');
  return {
    at,
    symbols: distinct([all, ...legs].map((one) => one.get('symbol')?.toUpperCase())),
    sides: distinct([all, ...legs].map((one) => one.get('side'))),
    orderType: all.get('order_type'),
    session: all.get('support_trading_session') ?? 'CORE',
    instrument: all.get('instrument_type') ?? 'EQUITY',
    // Of a changed leg it is not known which one it is.
    quantity: largest([quantity, ...[...legs, ...changedLegs].map((leg) => leg.get('quantity'))]),
    amount: largest([all.get('total_cash_amount')]),
    limitPrice: decimalOf(all.get('limit_price')),
    stopPrice: decimalOf(all.get('stop_price')),
    isReplacement: replaced !== undefined,
  };
}

/** An option is of 100 shares; what a contract of futures is of, no answer of the interface says. */
const sizes: Readonly<Record<string, string>> = { EQUITY: '1', CRYPTO: '1', EVENT: '1', OPTION: '100' };

/** Its limit price bounds what it can cost. */
const limited: ReadonlySet<string | undefined> = new Set(['LIMIT', 'STOP_LOSS_LIMIT', 'LIMIT_ON_OPEN']);

export const hasLimitPrice = ({ orderType }: OrderToCheck): boolean => limited.has(orderType);

/** Whether the notional takes the last price. */
export const needsLastPrice = (order: OrderToCheck): boolean =>
  order.amount === undefined && !hasLimitPrice(order);

/**
 * Price × quantity × size. Of an order without a limit price, the price is the last one, or the stop price when that is
 * higher, and the margin besides.
 *
 * @param margin in percent
 * @returns undefined when it is not known
 */
export function notionalOf(
  order: OrderToCheck,
  lastPrice: string | undefined,
  margin: string,
): string | undefined {
  const { amount, quantity, limitPrice, stopPrice, instrument } = order;
  if (amount !== undefined) return amount;
  const size = sizes[instrument];
  const price = hasLimitPrice(order)
    ? limitPrice
    : lastPrice &&
      multiplyDecimals(largest([lastPrice, stopPrice]) ?? lastPrice, addDecimals('1', hundredth(margin)));
  if (size === undefined || price === undefined || quantity === undefined) return undefined;
  // A combination of options may be sold at a negative price.
  return absolute(multiplyDecimals(multiplyDecimals(price, quantity), size));
}

export const hundredth = (percent: string): string => multiplyDecimals(percent, '0.01');

export const absolute = (value: string): string => (value.startsWith('-') ? value.slice(1) : value);

/** The larger of those that are known. */
export function largest(values: readonly (string | undefined)[]): string | undefined {
  const known = values.flatMap((value) => decimalOf(value) ?? []);
  return known.reduce<string | undefined>(
    (most, value) => (most === undefined || compareDecimals(value, most) > 0 ? value : most),
    undefined,
  );
}

/** Undefined for what is no decimal: the upstream refuses it, or a check does. */
function decimalOf(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : plainDecimal(text);
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
