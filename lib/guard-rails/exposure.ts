/**
 * The exposure of one order: its part of the counters while it may be open. It is stored in the order's journal entry, and
 * leaves counters and entry in one transaction, so that it is subtracted only once, however often that is tried.
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
  /** The largest quantity that the order had or may have. */
  readonly quantity?: string;
  readonly limitPrice?: string;
  readonly stopPrice?: string;
  /** Present when a replacement may have removed the limit price. */
  readonly isUnlimited?: true;
  /** Present when a replacement has changed only quantity or price; it may be executed after a later replacement. */
  readonly isPartlyReplaced?: true;
  /** Counted notional by counter key. */
  readonly counted: Readonly<Record<string, string>>;
}

export const writeExposure = (exposure: Exposure): string => JSON.stringify(exposure);

/** @throws for a text that is no JSON */
export const readExposure = (text: string): Exposure => JSON.parse(text) as Exposure;

/** The changes of a replacement, and the order's exposure after earlier ones. */
interface Replaced {
  /** JSON of the changes. */
  readonly replaced?: string;
  readonly exposure?: Exposure | undefined;
}

/**
 * The order after the replacement. Its changes count as written; for the other members, an earlier replacement may or may
 * not have been executed.
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
 * The order at its largest, whichever replacements the upstream executes, in whatever sequence. If each of them named both
 * quantity and price, the terms of two cannot mix.
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

/** The order's exposure after the request, whether or not that is executed. */
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

/** Adds up the exposures of several orders that one entry counts. */
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

/** Names of the changed members; a null changes nothing. */
const changedBy = (replaced: string): ReadonlySet<string> =>
  new Set(textMembers(replaced, terms)?.keys() ?? []);

type Counters = ReadonlyMap<string, StoredCounter>;

/** Changes that take an order out of the counters. */
export const releasing = (exposure: Exposure, counters: Counters): readonly CounterChange[] =>
  changing(exposure, counters, release);

/** Changes that count an order again. */
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
