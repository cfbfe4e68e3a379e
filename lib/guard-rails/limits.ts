/** The pre-trade limits that an operator sets: their names, their values, and their validation. */

import * as v from 'valibot';
import type { orderType } from '../catalogue/order-schemas.ts';
import { addDecimals, compareDecimals, plainDecimal } from '../kernel/decimals.ts';

const decimalFault = "takes a decimal above 0 as text, such as '10000'";
/** A decimal above zero, with at most a hundred digits, which no price or quantity exceeds. */
const positiveDecimal = v.pipe(
  v.string(decimalFault),
  v.maxLength(100, decimalFault),
  v.check(isPositive, decimalFault),
);
const share = v.pipe(positiveDecimal, v.description('In percent.'));
const whole = (min: number, max: number) => {
  const fault = `takes a whole number from ${min} to ${max}`;
  return v.pipe(v.number(fault), v.integer(fault), v.minValue(min, fault), v.maxValue(max, fault));
};
const symbolsFault =
  'takes a list of at most 1000 symbols, such as AAPL or BRK.B: letters and digits, with single dots, dashes or slashes between';
const symbols = v.pipe(
  v.array(
    v.pipe(
      v.string(symbolsFault),
      v.maxLength(64, symbolsFault),
      v.regex(/^[\p{L}\p{N}]+([./-][\p{L}\p{N}]+)*$/u, symbolsFault),
    ),
    symbolsFault,
  ),
  v.maxLength(1000, symbolsFault),
);
/** Schema of a list of known words, with one message for the list and its items. */
function amongst<const V extends readonly string[]>(...known: V) {
  const fault = `takes a list of ${known.join(', ')}`;
  return v.array(v.picklist(known, fault), fault);
}
/**
 * Values that a check may be unable to learn: the replaced order or a member of the order (`order`), the meaning of an
 * unknown `category` (`category`), a fresh quote of a stock or contract (`price`), the contract or its underlying
 * (`contract`), and the value of instruments without readable quotes or sizes.
 */
const unknownNames = ['order', 'category', 'price', 'contract', 'crypto', 'event', 'futures'] as const;

export type UnknownName = (typeof unknownNames)[number];

/** Something that a check could not learn. */
export interface Unknown {
  /** Name in `allow_unknown` with which an operator lets such orders pass. */
  readonly name: UnknownName;
  /** The reason, a clause for the client, such as `the order names no side`. */
  readonly why: string;
  /** Advice for the client, where that of the name does not fit. */
  readonly remedy?: string;
}

/** Order types. Only the TypeScript type comes from the catalogue: the function that stops trading bundles no operations. */
const orderTypes = Object.keys({
  MARKET: true,
  LIMIT: true,
  STOP_LOSS: true,
  STOP_LOSS_LIMIT: true,
  TRAILING_STOP_LOSS: true,
  MARKET_ON_OPEN: true,
  MARKET_ON_CLOSE: true,
  LIMIT_ON_OPEN: true,
} satisfies Record<v.InferOutput<typeof orderType>, true>) as v.InferOutput<typeof orderType>[];

const repetitionsFault = 'takes orders, 1 to 100000, and seconds, 1 to 3600';

const values = {
  max_order_quantity: v.pipe(positiveDecimal, v.description('Of one order: shares or contracts.')),
  max_order_notional: v.pipe(
    positiveDecimal,
    v.description('Of one order: its limit price or the quote, times its quantity, of an option times 100.'),
  ),
  max_open_notional: v.pipe(
    positiveDecimal,
    v.description(
      'Of all orders that may be open, those included whose outcome is unknown. It counts orders placed since it was set.',
    ),
  ),
  max_orders_per_minute: v.pipe(
    whole(0, 100_000),
    v.description('Placed and replaced within any 60 seconds.'),
  ),
  max_duplicative_orders: v.pipe(
    v.object({ orders: whole(1, 100_000), seconds: whole(1, 3600) }, repetitionsFault),
    v.description('Orders of the same symbol, side and quantity within so many seconds.'),
  ),
  allowed_symbols: v.pipe(symbols, v.description('No other symbol is traded.')),
  restricted_symbols: v.pipe(symbols, v.description('These symbols are not traded.')),
  allowed_sides: amongst('BUY', 'SELL', 'SHORT'),
  allowed_order_types: amongst(...orderTypes),
  price_collar: v.pipe(
    share,
    v.description('How far a limit or stop price may be from the last price of a stock, either way.'),
  ),
  allowed_sessions: amongst('ALL', 'CORE', 'NIGHT'),
};

/** Names of the checks, in the order in which they are made and reported. */
export const checkNames = [
  'restricted_symbols',
  'allowed_symbols',
  'allowed_sides',
  'allowed_order_types',
  'allowed_sessions',
  'max_order_quantity',
  'price_collar',
  'max_order_notional',
  'max_orders_per_minute',
  'max_duplicative_orders',
  'max_open_notional',
] as const satisfies readonly (keyof typeof values)[];

export type CheckName = (typeof checkNames)[number];

/** Checks that count over orders. Instances share their counters, whose totals are hidden from other users. */
export const countedChecks = [
  'max_orders_per_minute',
  'max_duplicative_orders',
  'max_open_notional',
] as const satisfies readonly CheckName[];

/** Checks of a single order. */
export type SingleCheck = Exclude<CheckName, (typeof countedChecks)[number]>;

const actionNames = ['notify', 'block', 'block_and_cancel'] as const;

/**
 * Consequence of a failed check. `notify`: the order is placed, and log and audit record the failure. `block_and_cancel`:
 * the order is blocked, and the open orders of the limit's user or account are cancelled.
 */
export type CheckAction = (typeof actionNames)[number];

const action = v.picklist(actionNames, 'takes notify, block or block_and_cancel');
const byCheck = <T>(value: T) =>
  Object.fromEntries(checkNames.map((name) => [name, value])) as Readonly<Record<CheckName, T>>;
const actionsFault = "takes checks with their actions, such as { price_collar: 'notify' }";
const actions = v.strictObject(byCheck(v.optional(action)), actionsFault);

const assumptions = {
  market_order_margin: v.pipe(
    share,
    v.description('Added to quotes: of sales, combinations and orders without a limit price. Default 5.'),
  ),
  allow_unknown: v.pipe(
    amongst(...unknownNames),
    v.description(
      'What an order may leave unknown: it passes the check, and log and audit say that it failed it.',
    ),
  ),
  user_shares: v.pipe(
    v.picklist(['equal', 'none'], 'takes equal or none'),
    v.description(
      'none: one user may use up the gateway’s limits, where it has one user alone. Default equal: each leaves as much as it has.',
    ),
  ),
  max_quote_age: v.pipe(
    whole(1, 3600),
    v.description('How old the last price may be, in seconds. Default 15.'),
  ),
};

const all = { ...values, ...assumptions };

const limits = v.strictObject({ ...v.partial(v.object(all)).entries, actions: v.optional(actions) });

export type TradingLimits = v.InferOutput<typeof limits>;

/** Names of the limits in the order of the documentation. */
export const limitNames = Object.keys(all) as readonly (keyof typeof all)[];

/** Type of a limit's value: a decimal is a `string`, a list an `array`. */
export const formOf = (name: keyof typeof all) => all[name].type;

type NullableAll = {
  readonly [K in keyof typeof all]: v.OptionalSchema<v.NullableSchema<(typeof all)[K], undefined>, undefined>;
};

const changes = v.strictObject({
  ...(Object.fromEntries(
    Object.entries(all).map(([name, schema]) => [name, v.optional(v.nullable(schema as v.GenericSchema))]),
  ) as NullableAll),
  actions: v.optional(v.strictObject(byCheck(v.optional(v.nullable(action))), actionsFault)),
});

/** Values of an operator's change; null removes a limit or the action of a check. */
export type LimitChanges = v.InferOutput<typeof changes>;

/** A fault in a set of limits. */
interface LimitFault {
  /** The member, such as `max_order_notional`. */
  readonly name: string;
  readonly detail: string;
}

/**
 * @returns the limits, or their faults
 *
 * @example
 * readLimits({ max_order_notional: '10000', max_orders_per_minute: 30 });
 */
export function readLimits(given: unknown): TradingLimits | readonly LimitFault[] {
  const read = v.safeParse(limits, given);
  return read.success ? read.output : faultsOf(read.issues);
}

/** @returns the changes, or their faults */
export function readLimitChanges(given: unknown): LimitChanges | readonly LimitFault[] {
  const read = v.safeParse(changes, given);
  return read.success ? read.output : faultsOf(read.issues);
}

/** The part of the gateway's limits that one user may use, a sentence for each limit, for the operator who sets them. */
export function sharesInWords({
  user_shares: shares,
  max_open_notional: open,
  max_orders_per_minute: rate,
  max_order_notional: order,
}: TradingLimits): readonly string[] {
  if (shares === 'none') return [];
  const set = 'Set it twice as large, or user_shares=none if the gateway has one user.';
  return [
    ...(open === undefined ? [] : [`One user alone may use half of max_open_notional ${open}. ${set}`]),
    ...(open !== undefined && order !== undefined && compareDecimals(addDecimals(order, order), open) > 0
      ? [
          `No user can place an order of max_order_notional ${order}: it is more than half of max_open_notional.`,
        ]
      : []),
    ...(rate === undefined ? [] : [`One user alone may send half of max_orders_per_minute ${rate}. ${set}`]),
  ];
}

/** Fault of an unknown name. */
export const noLimit = 'is no limit';

function faultsOf(issues: readonly v.BaseIssue<unknown>[]): readonly LimitFault[] {
  return issues.map(({ path = [], message, type, expected }) => ({
    name: path.map(({ key }) => String(key)).join('.'),
    detail: type === 'strict_object' && expected === 'never' ? noLimit : message,
  }));
}

export const areLimits = <T extends TradingLimits | LimitChanges>(
  read: T | readonly LimitFault[],
): read is T => !Array.isArray(read);

/** Joins two changes: the later one wins, and limits that it does not name stay. */
export function mergeChanges(before: LimitChanges, later: LimitChanges): LimitChanges {
  const actions = { ...before.actions, ...later.actions };
  return { ...before, ...later, ...(Object.keys(actions).length > 0 && { actions }) };
}

/** The limits after a change; limits that it does not name stay. */
export function withChanges(before: LimitChanges, changes: LimitChanges): TradingLimits {
  const { actions = {}, ...own } = mergeChanges(before, changes);
  const left = withoutNulls(actions);
  return { ...withoutNulls(own), ...(Object.keys(left).length > 0 && { actions: left }) };
}

const withoutNulls = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

export const isCounted = (limits: TradingLimits): boolean =>
  countedChecks.some((check) => limits[check] !== undefined);

function isPositive(text: string): boolean {
  try {
    const plain = plainDecimal(text);
    return plain !== '0' && !plain.startsWith('-');
  } catch {
    return false;
  }
}
