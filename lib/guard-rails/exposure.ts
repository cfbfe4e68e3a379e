/**
 * What is counted of one order while it may be open. It stands in the order's entry of the journal, and is taken out of
 * the counters in the transaction that removes it there: so it leaves them once, however often that is tried.
 */

import { type CounterChange, emptyCounter, readCounter, release, type StoredCounter } from './counter.ts';
import { largest, type OrderToCheck } from './order.ts';

export interface Exposure {
  /** The largest that the order was or may be. */
  readonly quantity?: string;
  readonly limitPrice?: string;
  readonly stopPrice?: string;
  /** By the key of a counter, the notional that it counts. */
  readonly counted: Readonly<Record<string, string>>;
}

export const writeExposure = (exposure: Exposure): string => JSON.stringify(exposure);

/** @throws for what is no exposure */
export const readExposure = (text: string): Exposure => JSON.parse(text) as Exposure;

/**
 * The order as it may be at most: an earlier replacement may have been executed or not. What this replacement changes
 * counts as it comes.
 */
export function widest(
  order: OrderToCheck,
  { replaced, exposure }: { readonly replaced?: string; readonly exposure?: Exposure | undefined },
): OrderToCheck {
  if (replaced === undefined || !exposure) return order;
  const changes = new Set(Object.keys(JSON.parse(replaced) as object));
  const most = (name: string, own: string | undefined, other: string | undefined) =>
    changes.has(name) ? own : largest([own, other]);
  return {
    ...order,
    quantity: most('quantity', order.quantity, exposure.quantity),
    limitPrice: most('limit_price', order.limitPrice, exposure.limitPrice),
    stopPrice: most('stop_price', order.stopPrice, exposure.stopPrice),
  };
}

/** The changes of the counters that take an order out of them. */
export const releasing = (
  { counted }: Exposure,
  counters: ReadonlyMap<string, StoredCounter>,
): readonly CounterChange[] =>
  Object.entries(counted).map(([key, notional]) => {
    const stored = counters.get(key) ?? emptyCounter(key);
    return { key, revision: stored.revision, next: JSON.stringify(release(readCounter(stored), notional)) };
  });
