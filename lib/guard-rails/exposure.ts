/**
 * What is counted of one order while it may be open. It stands in the order's entry of the journal, and is taken out of
 * the counters in the transaction that removes it there: so it leaves them once, however often that is tried.
 */

import { addDecimals } from '../kernel/decimals.ts';
import { textMembers } from '../kernel/json-members.ts';
import {
  type CounterChange,
  type CounterState,
  emptyCounter,
  readCounter,
  release,
  type StoredCounter,
} from './counter.ts';
import { hasLimitPrice, isLimited, largest, type OrderToCheck } from './order.ts';

export interface Exposure {
  /** The largest that the order was or may be. */
  readonly quantity?: string;
  readonly limitPrice?: string;
  readonly stopPrice?: string;
  /** A replacement may have taken the limit price away. */
  readonly isUnlimited?: true;
  /** A replacement has changed quantity or price alone, and may be executed after a later one. */
  readonly isPartlyReplaced?: true;
  /** By the key of a counter, the notional that it counts. */
  readonly counted: Readonly<Record<string, string>>;
}

export const writeExposure = (exposure: Exposure): string => JSON.stringify(exposure);

/** @throws for what is no exposure */
export const readExposure = (text: string): Exposure => JSON.parse(text) as Exposure;

/** What a replacement changes of an order, and what is known of the order from those before it. */
interface Replaced {
  /** JSON of what it changes. */
  readonly replaced?: string;
  readonly exposure?: Exposure | undefined;
}

/**
 * The order as the replacement makes it: what that changes counts as it comes. For the rest an earlier replacement may
 * have been executed or not.
 */
export function asReplaced(order: OrderToCheck, { replaced, exposure }: Replaced): OrderToCheck {
  if (replaced === undefined || !exposure) return order;
  const changed = changedBy(replaced);
  const all = atMost(order, { replaced, exposure });
  return {
    ...all,
    ...(changed.has('quantity') && { quantity: order.quantity }),
    ...(changed.has('limit_price') && { limitPrice: order.limitPrice }),
    ...(changed.has('stop_price') && { stopPrice: order.stopPrice }),
    ...(changed.has('order_type') && { mayBeUnlimited: false }),
  };
}

/**
 * The order at its largest, in any order in which the upstream executes the replacements or leaves them out. Where each of
 * them named quantity and price, no two mix.
 */
export function atMost(order: OrderToCheck, { replaced, exposure }: Replaced): OrderToCheck {
  if (replaced === undefined || !exposure) return order;
  const { isUnlimited, isPartlyReplaced } = exposure;
  if (isWhole(order, replaced) && !isUnlimited && !isPartlyReplaced) return order;
  return {
    ...order,
    ...largestTerms(order, exposure),
    mayBeUnlimited: isUnlimited === true || !hasLimitPrice(order),
  };
}

/** What is known of an order after the request, whether or not it is executed. */
export function exposureAfter(
  order: OrderToCheck,
  { replaced, exposure }: Replaced,
  counted: Exposure['counted'],
): Exposure {
  const { quantity, limitPrice, stopPrice } = largestTerms(order, exposure);
  const isPartly = replaced !== undefined && !isWhole(order, replaced);
  return {
    ...(quantity !== undefined && { quantity }),
    ...(limitPrice !== undefined && { limitPrice }),
    ...(stopPrice !== undefined && { stopPrice }),
    ...((exposure?.isUnlimited || !isLimited(order)) && { isUnlimited: true }),
    ...((exposure?.isPartlyReplaced || isPartly) && { isPartlyReplaced: true }),
    counted: { ...exposure?.counted, ...counted },
  };
}

/** Of several orders that one entry counts. */
export function together([first, ...more]: readonly Exposure[]): Exposure | undefined {
  if (!first || more.length === 0) return first;
  const counted: Record<string, string> = { ...first.counted };
  for (const one of more)
    for (const [key, notional] of Object.entries(one.counted))
      counted[key] = addDecimals(counted[key] ?? '0', notional);
  return { counted };
}

const largestTerms = (order: OrderToCheck, exposure: Exposure | undefined) => ({
  quantity: largest([order.quantity, exposure?.quantity]),
  limitPrice: largest([order.limitPrice, exposure?.limitPrice]),
  stopPrice: largest([order.stopPrice, exposure?.stopPrice]),
});

function isWhole(order: OrderToCheck, replaced: string): boolean {
  const changed = changedBy(replaced);
  return hasLimitPrice(order) && changed.has('quantity') && changed.has('limit_price');
}

const terms = ['quantity', 'limit_price', 'stop_price', 'order_type'];

/** Without what is null: that changes nothing. */
const changedBy = (replaced: string): ReadonlySet<string> =>
  new Set(textMembers(replaced, terms)?.keys() ?? []);

type Counters = ReadonlyMap<string, StoredCounter>;

/** The changes of the counters that take an order out of them. */
export const releasing = (exposure: Exposure, counters: Counters): readonly CounterChange[] =>
  changing(exposure, counters, release);

/** Those that count it again. */
export const counting = (exposure: Exposure, counters: Counters): readonly CounterChange[] =>
  changing(exposure, counters, (state, notional) => ({ ...state, open: addDecimals(state.open, notional) }));

const changing = (
  { counted }: Exposure,
  counters: Counters,
  change: (state: CounterState, notional: string) => CounterState,
): readonly CounterChange[] =>
  Object.entries(counted).map(([key, notional]) => {
    const stored = counters.get(key) ?? emptyCounter(key);
    return { key, revision: stored.revision, next: JSON.stringify(change(readCounter(stored), notional)) };
  });
