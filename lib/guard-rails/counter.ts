/**
 * What limits that count over orders keep of one scope: the notional of its open orders, and its last orders. One record
 * for each scope, which instances change in the transaction that writes an order's entry.
 */

import { addDecimals, compareDecimals, subtractDecimals } from '../client/decimals.ts';
import type { Failure } from './checks.ts';
import type { CheckName, TradingLimits, UnknownName } from './limits.ts';

/** A counter as a store has it. */
export interface StoredCounter {
  readonly key: string;
  /** Of its last change; 0 where there is none yet. */
  readonly revision: number;
  /** JSON. */
  readonly state: string;
}

/** A change of a counter that is as it was read; another instance may have changed it since. */
export interface CounterChange {
  readonly key: string;
  /** As read. */
  readonly revision: number;
  readonly next: string;
}

export interface CounterState {
  /** The notional of orders that may be open, a decimal. */
  readonly open: string;
  /** Orders of the last minute, or of as long as repetitions count: when, and a hash of what was ordered. */
  readonly recent: readonly (readonly [at: number, what: string])[];
}

/** An order as a scope counts it. */
export interface CountedOrder {
  readonly at: string;
  /** By how much it adds to the open notional; where that is not known, what is known of it. */
  readonly added: string;
  readonly unknown?: UnknownName;
  /** A keyed hash of symbol, side and quantity; empty for a replacement. */
  readonly what: string;
}

const none: CounterState = { open: '0', recent: [] };

export const emptyCounter = (key: string): StoredCounter => ({
  key,
  revision: 0,
  state: JSON.stringify(none),
});

/** @throws for what is no counter */
export function readCounter({ state }: StoredCounter): CounterState {
  const { open, recent } = JSON.parse(state) as CounterState;
  return { open: addDecimals(open, '0'), recent };
}

const minuteMs = 60_000;

/** The orders of a request, one after the other: what they count to, and the checks that they fail. */
export function count(
  before: CounterState,
  limits: TradingLimits,
  orders: readonly CountedOrder[],
  now: number,
): { readonly after: CounterState; readonly failures: readonly Failure[] } {
  const {
    max_duplicative_orders: repetitions,
    max_orders_per_minute: rate,
    max_open_notional: open,
  } = limits;
  const keptMs = Math.max(rate === undefined ? 0 : minuteMs, (repetitions?.seconds ?? 0) * 1000);
  // Clocks of instances differ: an order of another one may seem to come from the future, and counts.
  let recent = before.recent.filter(([at]) => at > now - keptMs);
  let sum = before.open;
  const failures: Failure[] = [];
  const fails = (check: CheckName, order: CountedOrder, limit: string, came: string, unknown?: UnknownName) =>
    failures.push({ check, at: order.at, limit, came, ...(unknown && { unknown }) });
  for (const order of orders) {
    if (rate !== undefined) {
      const inMinute = recent.filter(([at]) => at > now - minuteMs).length;
      if (inMinute >= rate) fails('max_orders_per_minute', order, `${rate}`, `${inMinute + 1}`);
    }
    if (repetitions && order.what !== '') {
      const since = now - repetitions.seconds * 1000;
      const same = recent.filter(([at, what]) => what === order.what && at > since).length;
      if (same >= repetitions.orders)
        fails(
          'max_duplicative_orders',
          order,
          `${repetitions.orders} within ${repetitions.seconds} s`,
          `${same + 1}`,
        );
    }
    if (keptMs > 0) recent = [...recent, [now, order.what] as const];
    if (open === undefined) continue;
    sum = addDecimals(sum, order.added);
    // What adds nothing makes nothing worse, also after the limit was lowered.
    if (order.added !== '0' && compareDecimals(sum, open) > 0) fails('max_open_notional', order, open, sum);
    else if (order.unknown) fails('max_open_notional', order, open, 'not known', order.unknown);
  }
  return { after: { open: sum, recent }, failures };
}

/** Without the notional of an order that is not open any more. */
export function release(before: CounterState, notional: string): CounterState {
  const open = subtractDecimals(before.open, notional);
  return { ...before, open: open.startsWith('-') ? '0' : open };
}
