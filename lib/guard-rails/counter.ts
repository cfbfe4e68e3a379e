/**
 * Counters for the limits that count over orders. A scope's counter has the notional of its open orders and the number of
 * recent ones; for each order that may be repeated, another counter has the number of its repetitions. Instances change
 * counters in the transaction that writes an order's entry. No counter grows with the number of orders.
 */

import { addDecimals, compareDecimals, subtractDecimals } from '../kernel/decimals.ts';
import { type Failure, notKnown, repetitionsInWords } from './checks.ts';
import { maxControlAgeMs } from './controls.ts';
import type { CheckName, TradingLimits, Unknown } from './limits.ts';
import { storeTimeSpreadMs } from './store-time.ts';

/** A counter as it is in a store. */
export interface StoredCounter {
  readonly key: string;
  /** Revision of the last change; 0 before the first. */
  readonly revision: number;
  /** JSON of a `CounterState`. */
  readonly state: string;
}

/** A change of a counter, made only if no other instance has changed the counter since it was read. */
export interface CounterChange {
  readonly key: string;
  /** The revision that was read. */
  readonly revision: number;
  readonly next: string;
  /** When a store may forget the counter, in milliseconds since the epoch; absent: never. */
  readonly expiresAt?: number;
}

export interface CounterState {
  /** The notional of orders that may be open, a decimal. */
  readonly open: string;
  /** Orders of the last minute, or of the time in which repetitions count, the oldest first. */
  readonly recent: readonly Run[];
}

/** A number of orders, with the times of the first and the last, in milliseconds since the epoch. */
type Run = readonly [first: number, last: number, orders: number];

/** The values of an order that a scope counts. */
export interface CountedOrder {
  readonly at: string;
  /** JSON Pointer to the order whose notional is added: the largest order of a bracket counts for all of them. */
  readonly addedAt: string;
  /** Notional that the order adds to the open one; where that is not known, its known part. */
  readonly added: string;
  readonly unknown?: Unknown;
  /** Number of earlier orders with the same contents within the time of the limit; absent for a replacement. */
  readonly same?: number;
}

const none: CounterState = { open: '0', recent: [] };

export const emptyCounter = (key: string, revision = 0): StoredCounter => ({
  key,
  revision,
  state: JSON.stringify(none),
});

/** @throws for a malformed counter */
export function readCounter({ state }: StoredCounter): CounterState {
  const { open, recent } = JSON.parse(state) as CounterState;
  return { open: addDecimals(open, '0'), recent };
}

/**
 * Extra time for which an order counts, because instances' times differ, and an order may leave five seconds after it was
 * counted. So no more orders leave in any minute than the limit allows.
 */
const slackMs = storeTimeSpreadMs + maxControlAgeMs;
const minuteMs = 60_000 + slackMs;

/** Most runs in a counter. Beyond that, two are merged and count until the last order of both: too long, never too short. */
const maxRuns = 64;

const countSince = (recent: readonly Run[], since: number): number =>
  // Another instance's order may seem to come from the future, because clocks differ; it counts, too.
  recent.reduce((sum, [, last, orders]) => (last > since ? sum + orders : sum), 0);

function withOrder(recent: readonly Run[], now: number, keptMs: number): readonly Run[] {
  const runs = [...recent.filter(([, last]) => last > now - keptMs), [now, now, 1] as const];
  if (runs.length <= maxRuns) return runs;
  const spanAt = (at: number) => runs[at + 1]![1] - runs[at]![0];
  let closest = 0;
  for (let at = 1; at < runs.length - 1; at++) if (spanAt(at) < spanAt(closest)) closest = at;
  const [one, other] = [runs[closest]!, runs[closest + 1]!];
  const merged: Run = [Math.min(one[0], other[0]), Math.max(one[1], other[1]), one[2] + other[2]];
  return [...runs.slice(0, closest), merged, ...runs.slice(closest + 2)];
}

/** Counts one more order of the same contents, and returns how many there were before. */
export function countSame(
  before: CounterState,
  { seconds }: { readonly seconds: number },
  now: number,
): { readonly after: CounterState; readonly same: number; readonly expiresAt: number } {
  const keptMs = seconds * 1000 + slackMs;
  return {
    same: countSince(before.recent, now - keptMs),
    after: { ...before, recent: withOrder(before.recent, now, keptMs) },
    expiresAt: now + keptMs + minuteMs,
  };
}

/** Which parts of a counter are in use: those for limits of its scope; in a user's counter, also those for the gateway's. */
export interface Kept {
  readonly open: boolean;
  readonly rate: boolean;
}

/**
 * Counts the orders of a request one after the other, and returns the new counter and the failed checks.
 *
 * @param own the user's part of a limit that all users share. A user may add while as much again stays free, so that the
 * next user finds room; each of n users who use all they can has 1/(n + 1).
 */
export function count(
  before: CounterState,
  limits: TradingLimits,
  orders: readonly CountedOrder[],
  now: number,
  kept: Kept,
  own?: CounterState,
): { readonly after: CounterState; readonly failures: readonly Failure[] } {
  const {
    max_duplicative_orders: repetitions,
    max_orders_per_minute: rate,
    max_open_notional: open,
  } = limits;
  let { recent, open: sum } = before;
  let [ownSum, ownInMinute] = [own?.open ?? '0', countSince(own?.recent ?? [], now - minuteMs)];
  const failures: Failure[] = [];
  const fails = (
    check: CheckName,
    order: CountedOrder,
    limit: string,
    came: string,
    more: Partial<Failure> = {},
  ) => failures.push({ check, at: order.at, limit, came, ...more });
  for (const order of orders) {
    if (kept.rate) {
      const inMinute = countSince(recent, now - minuteMs);
      if (rate !== undefined && inMinute >= rate)
        fails('max_orders_per_minute', order, `${rate}`, `${inMinute + 1}`);
      else if (rate !== undefined && own && inMinute + ownInMinute >= rate)
        fails('max_orders_per_minute', order, `${rate}`, `${ownInMinute + 1}`, { isShare: true });
      recent = withOrder(recent, now, minuteMs);
      ownInMinute++;
    }
    if (repetitions && order.same !== undefined && order.same >= repetitions.orders)
      fails('max_duplicative_orders', order, repetitionsInWords(repetitions), `${order.same + 1}`);
    if (!kept.open) continue;
    sum = addDecimals(sum, order.added);
    ownSum = addDecimals(ownSum, order.added);
    if (open === undefined) continue;
    // An order that adds nothing passes, even if the limit was lowered below the open notional.
    if (order.added !== '0' && compareDecimals(sum, open) > 0)
      fails('max_open_notional', order, open, sum, { at: order.addedAt, added: order.added });
    else if (own && order.added !== '0' && compareDecimals(addDecimals(sum, ownSum), open) > 0)
      fails('max_open_notional', order, open, ownSum, { isShare: true });
    else if (order.unknown) fails('max_open_notional', order, open, notKnown, { unknown: order.unknown });
  }
  return { after: { open: sum, recent }, failures };
}

/** The counter without `orders` orders of the time `at`, which had no effect. */
export function without(before: CounterState, at: number, orders: number): CounterState {
  let left = orders;
  const recent = before.recent.map(([first, last, counted]): Run => {
    const taken = first <= at && at <= last ? Math.min(left, counted) : 0;
    left -= taken;
    return [first, last, counted - taken];
  });
  return { ...before, recent: recent.filter(([, , counted]) => counted > 0) };
}

/** The counter without the notional of an order that is not open any more. */
export function release(before: CounterState, notional: string): CounterState {
  const open = subtractDecimals(before.open, notional);
  return { ...before, open: open.startsWith('-') ? '0' : open };
}
