/**
 * What limits that count over orders keep: of one scope the notional of its open orders and how many came when, and of
 * each order that may be repeated how often it came. Instances change these records in the transaction that writes an
 * order's entry. No record grows with the number of orders.
 */

import { addDecimals, compareDecimals, subtractDecimals } from '../kernel/decimals.ts';
import { type Failure, notKnown, repetitionsInWords } from './checks.ts';
import { maxControlAgeMs } from './controls.ts';
import type { CheckName, TradingLimits, Unknown } from './limits.ts';
import { storeTimeSpreadMs } from './store-time.ts';

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
  /** When a store may forget it, in milliseconds since the epoch; absent: never. */
  readonly expiresAt?: number;
}

export interface CounterState {
  /** The notional of orders that may be open, a decimal. */
  readonly open: string;
  /** Orders of the last minute, or of as long as repetitions count, the oldest first. */
  readonly recent: readonly Run[];
}

/** So many orders, the first and the last of them at these times, in milliseconds since the epoch. */
type Run = readonly [first: number, last: number, orders: number];

/** An order as a scope counts it. */
export interface CountedOrder {
  readonly at: string;
  /** Where the order stands whose notional is added: the largest order of a bracket counts for all of them. */
  readonly addedAt: string;
  /** By how much it adds to the open notional; where that is not known, what is known of it. */
  readonly added: string;
  readonly unknown?: Unknown;
  /** How many orders of the same contents came before it, as long as repetitions count; absent for a replacement. */
  readonly same?: number;
}

const none: CounterState = { open: '0', recent: [] };

export const emptyCounter = (key: string, revision = 0): StoredCounter => ({
  key,
  revision,
  state: JSON.stringify(none),
});

/** @throws for what is no counter */
export function readCounter({ state }: StoredCounter): CounterState {
  const { open, recent } = JSON.parse(state) as CounterState;
  return { open: addDecimals(open, '0'), recent };
}

/**
 * An order counts for longer than a limit says: times of instances differ, and it may leave five seconds after it was
 * counted. So in no minute more leave than the limit allows.
 */
const slackMs = storeTimeSpreadMs + maxControlAgeMs;
const minuteMs = 60_000 + slackMs;

/** Where more are to be kept, two become one, which counts until its last order does: it may count too long, never too short. */
const maxRuns = 64;

const countSince = (recent: readonly Run[], since: number): number =>
  // Clocks of instances differ: an order of another one may seem to come from the future, and counts.
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

/** One order more of the same contents, and how many there were. */
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

/** What a counter keeps: for limits of its scope, and of a user for those of the gateway. */
export interface Kept {
  readonly open: boolean;
  readonly rate: boolean;
}

/**
 * The orders of a request, one after the other: what they count to, and the checks that they fail.
 *
 * @param own what the user has of a limit that all users share. A user may add while that leaves as much to others, so that
 * the next user finds room, and each of n who take all they can has 1/(n + 1).
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
    // What adds nothing makes nothing worse, also after the limit was lowered.
    if (order.added !== '0' && compareDecimals(sum, open) > 0)
      fails('max_open_notional', order, open, sum, { at: order.addedAt, added: order.added });
    else if (own && order.added !== '0' && compareDecimals(addDecimals(sum, ownSum), open) > 0)
      fails('max_open_notional', order, open, ownSum, { isShare: true });
    else if (order.unknown) fails('max_open_notional', order, open, notKnown, { unknown: order.unknown });
  }
  return { after: { open: sum, recent }, failures };
}

/** Without so many orders of that time: they had no effect. */
export function without(before: CounterState, at: number, orders: number): CounterState {
  let left = orders;
  const recent = before.recent.map(([first, last, counted]): Run => {
    const taken = first <= at && at <= last ? Math.min(left, counted) : 0;
    left -= taken;
    return [first, last, counted - taken];
  });
  return { ...before, recent: recent.filter(([, , counted]) => counted > 0) };
}

/** Without the notional of an order that is not open any more. */
export function release(before: CounterState, notional: string): CounterState {
  const open = subtractDecimals(before.open, notional);
  return { ...before, open: open.startsWith('-') ? '0' : open };
}
