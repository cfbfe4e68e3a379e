/** What pre-trade checks know of an order: read from the JSON that is sent. Numbers stay texts. */

import { compareDecimals, multiplyDecimals, plainDecimal } from '../kernel/decimals.ts';
import { textMembers, textOf } from '../kernel/json-members.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import { contractNamed, isContract, type ReadonlyMembers } from './contracts.ts';

export interface OrderToCheck {
  /** Where it stands in the request, as a JSON Pointer. */
  readonly at: string;
  /** As written, those of legs among them, each with the instrument that it is of; none where the order is not known. */
  readonly symbols: readonly OrderSymbol[];
  readonly sides: readonly string[];
  readonly orderType: string | undefined;
  readonly sessions: readonly string[];
  /** Undefined where the order is not known, or does not say it. */
  readonly instrument: string | undefined;
  /** Never negative. Undefined for an order by amount, and where it is not known. */
  readonly quantity: string | undefined;
  /** In money, of an order by amount, or of one that names it beside a quantity; never negative. */
  readonly amount: string | undefined;
  readonly isByAmount: boolean;
  readonly limitPrice: string | undefined;
  readonly stopPrice: string | undefined;
  /** It has a limit price, and a replacement may have taken that away. */
  readonly mayBeUnlimited?: boolean;
  /** What is traded: one thing, or the legs of an option order. Of any other order the thing, and legs that it may not have. */
  readonly parts: readonly TradedPart[];
  /** A replacement is not the repetition of an order. */
  readonly isReplacement: boolean;
  /** The order that is replaced could not be looked up: what the replacement makes of it is not known. */
  readonly isUnseen: boolean;
  /** It has a number that is none of a price's length, or a replacement scales legs by a ratio that is not known. */
  readonly isUnreadable: boolean;
}

export interface OrderSymbol {
  readonly symbol: string;
  readonly instrument: string | undefined;
  /** Of an option: which one the members beside the symbol name. */
  readonly contract: string | undefined;
  /** They name another one than the symbol does, or none. */
  readonly isContradictory: boolean;
}

export interface TradedPart {
  readonly instrument: string | undefined;
  /** As quotes name it; undefined where that is not known. */
  readonly symbol: string | undefined;
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
  'strike_price',
  'option_expire_date',
  'option_type',
] as const;

type Member = (typeof members)[number];

/**
 * @param json an order as the interface places it, or shows it; undefined where it could not be looked up
 * @param replaced what a replacement changes of it
 */
export function orderToCheck(json: string | undefined, at: string, replaced?: string): OrderToCheck {
  const before = json === undefined ? nothing : membersIn(json);
  const changes = replaced === undefined ? nothing : membersIn(replaced);
  const legs = json === undefined ? [] : legsIn(json);
  const changedLegs = replaced === undefined ? [] : legsIn(replaced);
  const now = (name: Member) => changes.get(name) ?? before.get(name);
  const instrument = before.get('instrument_type');
  const quantity = largestOf([
    now('quantity') ?? before.get('total_quantity'),
    // Of a changed leg it is not known which one it is.
    ...[...legs.map(contractsOf), ...changedLegs.map((leg) => leg.get('quantity'))],
  ]);
  const [limitPrice, stopPrice] = [decimalOf(now('limit_price')), decimalOf(now('stop_price'))];
  const isByAmount = now('entrust_type') === 'AMOUNT' || quantity === undefined;
  return {
    at,
    // What no replacement changes by the catalogue, the upstream may change or not: both are checked.
    symbols: [before, changes, ...legs].flatMap((one) => {
      const symbol = one.get('symbol');
      if (symbol === undefined) return [];
      const of = one.get('instrument_type') ?? instrument;
      const named = of === 'OPTION' ? contractNamed(one) : undefined;
      return [
        {
          symbol,
          instrument: of,
          contract: named?.contract,
          isContradictory: named?.isContradictory === true,
        },
      ];
    }),
    sides: distinct([before, changes, ...legs].map((one) => one.get('side'))),
    orderType: json === undefined ? undefined : now('order_type'),
    sessions: distinct([
      json === undefined ? undefined : (before.get('support_trading_session') ?? 'CORE'),
      changes.get('support_trading_session'),
    ]),
    instrument,
    quantity: json === undefined ? undefined : quantity,
    amount: largestOf([before.get('total_cash_amount'), changes.get('total_cash_amount')]),
    isByAmount,
    limitPrice,
    stopPrice,
    parts: (instrument === 'OPTION' && legs.length > 0 ? legs : [before, ...legs]).map((one) =>
      partOf(one, instrument),
    ),
    isReplacement: replaced !== undefined,
    isUnseen: json === undefined,
    isUnreadable:
      [before, changes, ...legs, ...changedLegs].some(hasUnreadable) ||
      (isRatioSpread(before, legs) && (changes.has('quantity') || changedLegs.length > 0)),
  };
}

const numbers: readonly Member[] = [
  'quantity',
  'total_quantity',
  'total_cash_amount',
  'limit_price',
  'stop_price',
];

const hasUnreadable = (one: ReadonlyMembers): boolean =>
  numbers.some((name) => one.has(name) && decimalOf(one.get(name)) === undefined);

/** Its legs have other quantities than the combination: a replacement of one quantity changes them in a ratio. */
function isRatioSpread(order: ReadonlyMembers, legs: readonly ReadonlyMembers[]): boolean {
  const quantity = decimalOf(order.get('quantity') ?? order.get('total_quantity'));
  return legs.some((leg) => {
    const own = decimalOf(contractsOf(leg));
    return own !== undefined && (quantity === undefined || compareDecimals(own, quantity) !== 0);
  });
}

/** Of shares beside options, so many as go with that number of contracts. */
function contractsOf(leg: ReadonlyMembers): string | undefined {
  const quantity = leg.get('quantity');
  const areShares = leg.get('instrument_type') === 'EQUITY' && !isContract(leg.get('symbol'));
  const plain = areShares ? decimalOf(quantity) : undefined;
  return plain === undefined ? quantity : multiplyDecimals(plain, '0.01');
}

function partOf(members: ReadonlyMembers, ofOrder: string | undefined): TradedPart {
  const instrument = members.get('instrument_type') ?? ofOrder;
  const symbol =
    instrument === 'OPTION' ? contractNamed(members).contract : members.get('symbol')?.toUpperCase();
  return { instrument, symbol };
}

/** Their limit price bounds what they can cost. */
const limited: ReadonlySet<string | undefined> = new Set(['LIMIT', 'STOP_LOSS_LIMIT', 'LIMIT_ON_OPEN']);

/** A price of nothing may stand for no limit; legs may bring in more than they cost. */
export const hasLimitPrice = ({ orderType, limitPrice, parts }: PricedOrder): boolean =>
  limited.has(orderType) &&
  (parts?.length !== 1 || limitPrice === undefined || compareDecimals(limitPrice, '0') > 0);

type PricedOrder = Pick<OrderToCheck, 'orderType'> & Partial<Pick<OrderToCheck, 'limitPrice' | 'parts'>>;

export const isLimited = (order: OrderToCheck): boolean => hasLimitPrice(order) && !order.mayBeUnlimited;

/** Only option orders have legs: what the upstream makes of those of another order is not known. */
export const hasStrayLegs = ({ instrument, parts }: OrderToCheck): boolean =>
  instrument !== 'OPTION' && parts.length > 1;

/** Also where no side is known. */
export const maySell = ({ sides }: OrderToCheck): boolean =>
  sides.length === 0 || sides.some((side) => side !== 'BUY');

export const absolute = (value: string): string => (value.startsWith('-') ? value.slice(1) : value);

/** The largest of those that are known, without signs: a combination of options may be sold at a negative price. */
export function largest(values: readonly (string | undefined)[]): string | undefined {
  const known = values.flatMap((value) => (value === undefined ? [] : [absolute(plainDecimal(value))]));
  return known.reduce<string | undefined>(
    (most, value) => (most === undefined || compareDecimals(value, most) > 0 ? value : most),
    undefined,
  );
}

/** The same of texts; what is no decimal of a number's length is left out, and makes the order unreadable. */
const largestOf = (texts: readonly (string | undefined)[]): string | undefined =>
  largest(texts.map(decimalOf));

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

const nothing: ReadonlyMembers = new Map();

const membersIn = (json: string | Uint8Array): ReadonlyMembers => textMembers(json, members) ?? nothing;

function legsIn(json: string): readonly ReadonlyMembers[] {
  const legs = membersOf(new TextEncoder().encode(json), ['legs'])?.get('legs');
  return legs && textOf(legs).startsWith('[') ? [...elementsOf(legs)].map(membersIn) : [];
}

const distinct = (values: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
];
