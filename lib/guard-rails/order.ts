/** Reads the facts that pre-trade checks need from an order's JSON. Numbers stay texts. */

import { shorten } from '../catalogue/faults.ts';
import { sessionsOf } from '../catalogue/order-words.ts';
import { compareDecimals, multiplyDecimals, plainDecimal } from '../kernel/decimals.ts';
import { textMembers, textOf } from '../kernel/json-members.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import { contractNamed, isContract, type ReadonlyMembers } from './contracts.ts';
import type { Unknown } from './limits.ts';

export interface OrderToCheck {
  /** JSON Pointer to the order in the request. */
  readonly at: string;
  /** Symbols as written, legs' included, each with its instrument; none where the order is not known. */
  readonly symbols: readonly OrderSymbol[];
  readonly sides: readonly string[];
  readonly comboType: string | undefined;
  readonly orderType: string | undefined;
  readonly sessions: readonly string[];
  /** Instrument type; undefined where the order is not known, or does not name one. */
  readonly instrument: string | undefined;
  /** Quantity, never negative. Undefined for an order by amount, and where it is not known. */
  readonly quantity: string | undefined;
  /** Amount of money, never negative, in an order by amount or beside a quantity. */
  readonly amount: string | undefined;
  readonly isByAmount: boolean;
  readonly limitPrice: string | undefined;
  readonly stopPrice: string | undefined;
  /** Whether a replacement may have removed the limit price. */
  readonly mayBeUnlimited?: boolean;
  /** Traded instruments: one, or the legs of an option order. Other orders may wrongly have legs, which are included. */
  readonly parts: readonly TradedPart[];
  /** Whether the order is replaced; a replacement does not count as a repetition. */
  readonly isReplacement: boolean;
  /** The side of an event contract that is traded. */
  readonly eventOutcome: string | undefined;
  /**
   * Why the order's value is not known: the replaced order could not be looked up, a number is longer than any price or
   * quantity, or a replacement scales legs by an unknown ratio.
   */
  readonly doubt: Unknown | undefined;
  /** Contradiction between two places of the request: the upstream may read the order as another one. */
  readonly contradiction: Unknown | undefined;
}

interface OrderSymbol {
  readonly symbol: string;
  readonly instrument: string | undefined;
  /** Option contract that the members beside the symbol name. */
  readonly contract: string | undefined;
  /** Whether those members name another contract than the symbol, or an invalid one. */
  readonly isContradictory: boolean;
}

export interface TradedPart {
  readonly instrument: string | undefined;
  /** Symbol as in quotes; undefined where that is not known. */
  readonly symbol: string | undefined;
  /** Symbol as written, for the client. */
  readonly written: string | undefined;
}

const members = [
  'id',
  'symbol',
  'side',
  'combo_type',
  'order_type',
  'support_trading_session',
  'extended_hours',
  'event_outcome',
  'instrument_type',
  'market',
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

const subject = ['instrument_type', 'market', 'symbol'] as const;

/**
 * Adds instrument, market and symbol from the first option leg to an order that names neither instrument nor symbol, as in
 * the vendor's samples of option orders. An order that names a symbol is left alone: it could be an order of stock.
 */
function withSubject(own: ReadonlyMembers, legs: readonly ReadonlyMembers[]): ReadonlyMembers {
  if (own.has('instrument_type') || own.has('symbol')) return own;
  const leg = legs.find((one) => one.get('instrument_type') === 'OPTION');
  const ofLeg = subject.flatMap((name) => (leg?.has(name) ? [[name, leg.get(name)!] as const] : []));
  return new Map([...ofLeg, ...own]);
}

/** The order's members, read alike for its checks and for comparing it with an order that the upstream shows. */
export const orderMembers = (json: string): ReadonlyMembers => withSubject(membersIn(json), legsIn(json));

const inRatio: Unknown = {
  name: 'order',
  why: 'its legs have other quantities than the order, and a new quantity changes them in a ratio',
  remedy: 'Change the price alone, or cancel the order and place it anew.',
};
const notSeen: Unknown = {
  name: 'order',
  why: 'the order that it replaces could not be looked up',
  remedy: 'Send it again in a few seconds.',
};

/**
 * @param json an order as the interface places or shows it; undefined where it could not be looked up
 * @param replaced JSON of a replacement's changes to the order
 * @param doubt why the upstream may read the order as another one, or why there is no JSON
 */
export function orderToCheck(
  json: string | undefined,
  at: string,
  replaced?: string,
  doubt?: Unknown,
): OrderToCheck {
  const legs = json === undefined ? [] : legsIn(json);
  const own = json === undefined ? nothing : membersIn(json);
  const before = withSubject(own, legs);
  const changes = replaced === undefined ? nothing : membersIn(replaced);
  const changedLegs = replaced === undefined ? [] : legsIn(replaced);
  const now = (name: Member) => changes.get(name) ?? before.get(name);
  const instrument = before.get('instrument_type');
  const quantity = largestOf([
    now('quantity') ?? before.get('total_quantity'),
    ...legs.map(contractsOf),
    // A changed leg without a known id may be any leg.
    ...changedLegs.map((leg) => contractsOf(new Map([...legOf(leg, legs), ...leg]))),
  ]);
  const [limitPrice, stopPrice] = [decimalOf(now('limit_price')), decimalOf(now('stop_price'))];
  const isByAmount = now('entrust_type') === 'AMOUNT' || quantity === undefined;
  return {
    at,
    // The upstream may or may not apply changes that the catalogue does not have, so old and new values are checked.
    symbols: [own, changes, ...legs].flatMap((one) => {
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
    comboType: before.get('combo_type'),
    orderType: json === undefined ? undefined : now('order_type'),
    sessions: distinct(
      [
        json === undefined ? nothing : new Map([['support_trading_session', 'CORE'], ...before]),
        changes,
      ].flatMap(sessionsIn),
    ),
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
    eventOutcome: before.get('event_outcome'),
    contradiction: json === undefined ? undefined : doubt,
    doubt:
      (json === undefined ? (doubt ?? notSeen) : unreadableIn([before, changes, ...legs, ...changedLegs])) ??
      (isRatioSpread(before, legs) && hasNewQuantity([changes, ...changedLegs], [before, ...legs])
        ? inRatio
        : undefined),
  };
}

const numbers: readonly Member[] = [
  'quantity',
  'total_quantity',
  'total_cash_amount',
  'limit_price',
  'stop_price',
];

function unreadableIn(all: readonly ReadonlyMembers[]): Unknown | undefined {
  const isUnreadable = (name: Member) => (one: ReadonlyMembers) =>
    one.has(name) && decimalOf(one.get(name)) === undefined;
  const name = numbers.find((one) => all.some(isUnreadable(one)));
  return name && { name: 'order', why: `${name} is no decimal of at most ${maxDigits} digits` };
}

/** The order's sessions; `extended_hours` adds to the session that is named beside it. */
const sessionsIn = (one: ReadonlyMembers): readonly string[] => {
  const session = one.get('support_trading_session');
  const named = session === undefined ? [] : (sessionsByWord.get(session) ?? [session]);
  return [...named, ...(one.get('extended_hours') === 'true' ? ['ALL'] : [])];
};

const sessionsByWord: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(sessionsOf));

/** Whether legs have other quantities than the combination, so that replacing its quantity scales them by a ratio. */
function isRatioSpread(order: ReadonlyMembers, legs: readonly ReadonlyMembers[]): boolean {
  const quantity = decimalOf(order.get('quantity') ?? order.get('total_quantity'));
  return legs.some((leg) => {
    const own = decimalOf(contractsOf(leg));
    return own !== undefined && (quantity === undefined || compareDecimals(own, quantity) !== 0);
  });
}

/** Whether a replacement changes a leg by an id that only the upstream's order has, so that the leg's type is unknown. */
export const needsLegIds = (placed: string, replaced: string): boolean => {
  const legs = legsIn(placed);
  return (
    legs.some(areShares) &&
    legsIn(replaced).some((leg) => leg.has('quantity') && legOf(leg, legs) === nothing)
  );
};

const legOf = (changed: ReadonlyMembers, legs: readonly ReadonlyMembers[]): ReadonlyMembers =>
  legs.find((leg) => leg.has('id') && leg.get('id') === changed.get('id')) ?? nothing;

/** Whether the changes contain a quantity that the order does not have. */
function hasNewQuantity(changes: readonly ReadonlyMembers[], before: readonly ReadonlyMembers[]): boolean {
  const known = before.map((one) => decimalOf(one.get('quantity') ?? one.get('total_quantity')));
  const changed = changes.flatMap((one) => (one.has('quantity') ? [decimalOf(one.get('quantity'))] : []));
  return changed.some((one) => !known.includes(one));
}

const areShares = (leg: ReadonlyMembers): boolean =>
  leg.get('instrument_type') === 'EQUITY' && !isContract(leg.get('symbol'));

/** Number of contracts that a leg's quantity corresponds to: one for each hundred shares. */
function contractsOf(leg: ReadonlyMembers): string | undefined {
  const quantity = leg.get('quantity');
  const plain = areShares(leg) ? decimalOf(quantity) : undefined;
  return plain === undefined ? quantity : multiplyDecimals(plain, '0.01');
}

function partOf(members: ReadonlyMembers, ofOrder: string | undefined): TradedPart {
  const instrument = members.get('instrument_type') ?? ofOrder;
  const symbol =
    instrument === 'OPTION' ? contractNamed(members).contract : members.get('symbol')?.toUpperCase();
  return { instrument, symbol, written: shorten(members.get('symbol') ?? '') || undefined };
}

/**
 * The entry order of a bracket, which is an order of stock with exits that close no more than it opens. An exit becomes
 * active only as far as the entry is executed, so that together they are never open for more than the largest of them.
 *
 * @param orders all orders of one combination
 * @returns undefined where the orders are no bracket
 */
export function bracketEntry(orders: readonly OrderToCheck[]): OrderToCheck | undefined {
  const entry = orders.find(({ comboType }) => comboType === 'MASTER');
  const exits = orders.filter((one) => one !== entry);
  const isOnePerType = new Set(exits.map(({ comboType }) => comboType)).size === exits.length;
  const isBracket = entry && exits.length > 0 && isOnePerType;
  return isBracket && exits.every((exit) => isExitOf(exit, entry)) ? entry : undefined;
}

const exitTypes: ReadonlySet<string | undefined> = new Set(['STOP_PROFIT', 'STOP_LOSS']);

function isExitOf(exit: OrderToCheck, entry: OrderToCheck): boolean {
  const isWhole = (order: OrderToCheck) =>
    order.instrument === 'EQUITY' &&
    !hasStrayLegs(order) &&
    order.quantity !== undefined &&
    order.amount === undefined &&
    !order.isByAmount &&
    !order.doubt;
  return (
    exitTypes.has(exit.comboType) &&
    isWhole(exit) &&
    isWhole(entry) &&
    exit.parts[0]?.symbol === entry.parts[0]?.symbol &&
    (exit.sides[0] === 'BUY') !== (entry.sides[0] === 'BUY') &&
    compareDecimals(exit.quantity!, entry.quantity!) <= 0
  );
}

/** Order types whose limit price bounds their cost. */
const limited: ReadonlySet<string | undefined> = new Set(['LIMIT', 'STOP_LOSS_LIMIT', 'LIMIT_ON_OPEN']);

/** Whether a limit price counts: zero may mean no limit, except with legs, which may bring in more than they cost. */
export const hasLimitPrice = ({ orderType, limitPrice, parts }: PricedOrder): boolean =>
  limited.has(orderType) &&
  (parts?.length !== 1 || limitPrice === undefined || compareDecimals(limitPrice, '0') > 0);

type PricedOrder = Pick<OrderToCheck, 'orderType'> & Partial<Pick<OrderToCheck, 'limitPrice' | 'parts'>>;

export const isLimited = (order: OrderToCheck): boolean => hasLimitPrice(order) && !order.mayBeUnlimited;

/** Whether an order other than an option order has legs; the upstream's treatment of those is unknown. */
export const hasStrayLegs = ({ instrument, parts }: OrderToCheck): boolean =>
  instrument !== 'OPTION' && parts.length > 1;

/** Whether the order may sell; true where no side is known. */
export const maySell = ({ sides }: OrderToCheck): boolean =>
  sides.length === 0 || sides.some((side) => side !== 'BUY');

export const absolute = (value: string): string => (value.startsWith('-') ? value.slice(1) : value);

/** The largest known value, without signs, because a combination of options may be sold at a negative price. */
export function largest(values: readonly (string | undefined)[]): string | undefined {
  const known = values.flatMap((value) => (value === undefined ? [] : [absolute(plainDecimal(value))]));
  return known.reduce<string | undefined>(
    (most, value) => (most === undefined || compareDecimals(value, most) > 0 ? value : most),
    undefined,
  );
}

/** The largest value among texts, without those that are no valid decimal; such a text makes the order unreadable. */
const largestOf = (texts: readonly (string | undefined)[]): string | undefined =>
  largest(texts.map(decimalOf));

/** Most digits of a price or quantity. Longer ones would make counters larger than a store accepts. */
const maxDigits = 100;

/** The text as a decimal; undefined if it is none or too long, which the upstream or a check then refuses. */
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

/** The order's members without empty texts, with which the upstream shows missing numbers. */
const membersIn = (json: string | Uint8Array): ReadonlyMembers =>
  new Map([...(textMembers(json, members) ?? nothing)].filter(([, value]) => value !== ''));

function legsIn(json: string): readonly ReadonlyMembers[] {
  const legs = membersOf(new TextEncoder().encode(json), ['legs'])?.get('legs');
  return legs && textOf(legs).startsWith('[') ? [...elementsOf(legs)].map(membersIn) : [];
}

const distinct = (values: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
];
