/** The pre-trade limits that an operator sets: their names, their values, and how a text of them is read. */

import * as v from 'valibot';
import { plainDecimal } from '../client/decimals.ts';

/** Above zero; of a hundred digits at most, which no price or quantity has. */
const positiveDecimal = v.pipe(
  v.string(),
  v.maxLength(100),
  v.check(isPositive, 'a decimal above 0, as text'),
);
const share = v.pipe(positiveDecimal, v.description('In percent.'));
const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100_000));
const names = v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(64))), v.maxLength(1000));

const values = {
  max_order_quantity: v.pipe(positiveDecimal, v.description('Of one order: shares or contracts.')),
  max_order_notional: v.pipe(
    positiveDecimal,
    v.description('Of one order: its price times its quantity, of an option times 100.'),
  ),
  max_open_notional: v.pipe(
    positiveDecimal,
    v.description(
      'Of all orders that may be open, those included whose outcome is unknown. It counts orders placed since it was set.',
    ),
  ),
  max_orders_per_minute: v.pipe(count, v.description('Placed and replaced within any 60 seconds.')),
  max_duplicative_orders: v.pipe(
    v.object({
      orders: v.pipe(count, v.minValue(1)),
      seconds: v.pipe(count, v.minValue(1), v.maxValue(3600)),
    }),
    v.description('Orders of the same symbol, side and quantity within so many seconds.'),
  ),
  allowed_symbols: v.pipe(names, v.description('No other symbol is traded.')),
  restricted_symbols: v.pipe(names, v.description('These symbols are not traded.')),
  allowed_sides: v.array(v.picklist(['BUY', 'SELL', 'SHORT'])),
  allowed_order_types: names,
  price_collar: v.pipe(
    share,
    v.description('How far a limit or stop price may be from the last price of a stock, either way.'),
  ),
  allowed_sessions: v.array(v.picklist(['ALL', 'CORE', 'NIGHT'])),
};

/** In the order in which they are checked and told. */
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

/** `notify`: the order goes on, and the log and the audit say that the check failed. */
export type CheckAction = 'notify' | 'block';

const actions = v.partial(
  v.object(
    Object.fromEntries(checkNames.map((name) => [name, v.picklist(['notify', 'block'])])) as Record<
      CheckName,
      v.PicklistSchema<['notify', 'block'], undefined>
    >,
  ),
);

const assumptions = {
  market_order_margin: v.pipe(
    share,
    v.description('Added to the last price of an order without a limit price. Default 5.'),
  ),
  max_quote_age: v.pipe(
    count,
    v.minValue(1),
    v.maxValue(3600),
    v.description('How old the last price may be, in seconds. Default 15.'),
  ),
};

const limits = v.strictObject({
  ...v.partial(v.object({ ...values, ...assumptions })).entries,
  actions: v.optional(actions),
});

export type TradingLimits = v.InferOutput<typeof limits>;

/** Values of an operator's change: null takes a limit away. */
export type LimitChanges = { readonly [K in keyof TradingLimits]?: TradingLimits[K] | null };

/** What is wrong with a set of limits, a sentence each. */
export interface LimitFault {
  /** The member, such as `max_order_notional`. */
  readonly name: string;
  readonly detail: string;
}

/**
 * @returns the limits, or what is wrong with them
 *
 * @example
 * readLimits({ max_order_notional: '10000', max_orders_per_minute: 30 });
 */
export function readLimits(given: unknown): TradingLimits | readonly LimitFault[] {
  const read = v.safeParse(limits, given);
  if (read.success) return read.output;
  return read.issues.map(({ path, message }) => ({
    name: path?.map(({ key }) => String(key)).join('.') ?? '',
    detail: message,
  }));
}

export const areLimits = (read: TradingLimits | readonly LimitFault[]): read is TradingLimits =>
  !Array.isArray(read);

/** The limits after a change: what it does not name stays. */
export function withChanges(before: TradingLimits, changes: LimitChanges): TradingLimits {
  const all = { ...before, ...changes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** Whether a limit counts over orders, so that instances share a counter. */
export const isCounted = ({
  max_open_notional,
  max_orders_per_minute,
  max_duplicative_orders,
}: TradingLimits): boolean =>
  max_open_notional !== undefined ||
  max_orders_per_minute !== undefined ||
  max_duplicative_orders !== undefined;

function isPositive(text: string): boolean {
  try {
    const plain = plainDecimal(text);
    return plain !== '0' && !plain.startsWith('-');
  } catch {
    return false;
  }
}
