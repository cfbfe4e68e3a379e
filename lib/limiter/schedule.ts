/**
 * The plan: what all instances agree on, and by which each takes permissions without asking the others. Of a
 * limit it holds when permissions were given, and a row of times from which the next ones come: number n of
 * the row is due at `due + n · step`. How many are taken is a counter beside the plan, so that those who
 * come at once need not wait for each other; only renewing the plan is one at a time.
 *
 * A number whose time has come is taken for now, and counts at the plan's end, because nobody notes when
 * exactly; one whose time is still to come is reserved, and counts at its very time. Under saturation all
 * are reserved, and nothing is lost.
 */

import { countAfter, dropUpTo, nthAfter, type Run, timeOf, withRun } from './grant-log.ts';
import type { LimitWindow } from './options.ts';
import { allPriorities, type Priority, priorities } from './priorities.ts';

export interface LimitSchedule {
  /** What was given before this plan, and still counts. */
  readonly runs: readonly Run[];
  readonly due: number;
  readonly step: number;
  readonly windowMs: number;
  /** After the upstream's own refusal nothing is due before; 0 when there was none. */
  readonly closedUntil: number;
  /** When somebody of a priority last took a permission. */
  readonly seen: Readonly<Record<Priority, number>>;
  /** What a priority's floor had left at the beginning of the plan; below zero when it had more. */
  readonly floors: Readonly<Record<Priority, number>>;
}

export interface Schedule {
  readonly at: number;
  /** Until then permissions are given for now. */
  readonly end: number;
  readonly renewAt: number;
  readonly limits: Readonly<Record<string, LimitSchedule>>;
}

export type Counters = Readonly<Record<string, number>>;

export const takenOf = (limit: string) => limit;
export const lateOf = (limit: string) => `${limit}/now`;
export const takenBy = (limit: string, priority: Priority) => `${limit}/${priority}`;

/** Short, because what is given for now counts at its end; no shorter, because renewing costs a write. */
const nowMs = 1000;
const lifeMs = 10_000;
/** What a floor may save up, */
const mostFloor = 3;
/** and for how much more than its floor a priority has to wait before it comes into force: steps. */
const mostAhead = 300;

const everyPriority = (value: (priority: Priority) => number) =>
  Object.fromEntries(allPriorities.map((one) => [one, value(one)])) as Record<Priority, number>;

/** A limit of which nothing is known: nothing was given of it. */
const untouched = (at: number, { windowMs, stepMs }: LimitWindow): LimitSchedule => ({
  runs: [],
  due: at - windowMs,
  step: stepMs,
  windowMs,
  closedUntil: 0,
  seen: everyPriority(() => 0),
  floors: everyPriority(() => 0),
});

/** For an item that cannot be read: everything counts as given just now, so that a window later all is well. */
export function exhaustedSchedule(now: number, figures: ReadonlyMap<string, LimitWindow>): Schedule {
  const limits = [...figures].map(([name, one]) => {
    const run = { from: now, step: 0, count: one.capacity };
    return [name, { ...untouched(now, one), runs: [run], due: now + one.windowMs }] as const;
  });
  return { at: now, end: now, renewAt: now, limits: Object.fromEntries(limits) };
}

/** The plan that follows at `now`, with all counters at zero. */
export function renewedSchedule(
  plan: Schedule | undefined,
  counters: Counters,
  now: number,
  figures: ReadonlyMap<string, LimitWindow>,
): Schedule {
  const limits: Record<string, LimitSchedule> = {};
  // What only others are configured with is kept for them.
  for (const [name, limit] of Object.entries(plan?.limits ?? {}))
    limits[name] = closed(name, limit, counters, now, plan!);
  let renewAt = now + lifeMs;
  for (const [name, one] of figures) {
    const { limit, until } = paced(limits[name] ?? untouched(now, one), now, one);
    limits[name] = limit;
    renewAt = Math.min(renewAt, until);
  }
  return { at: now, end: now + nowMs, renewAt, limits };
}

/** Writes what was taken under the old plan among what was given. */
function closed(
  name: string,
  limit: LimitSchedule,
  counters: Counters,
  now: number,
  { at, end }: Schedule,
): LimitSchedule {
  const taken = counters[takenOf(name)] ?? 0;
  // Whoever took under this plan did so before it was read here, so that our clock may stand for his.
  const stamp = Math.min(end, now);
  const row = { from: limit.due, step: limit.step, count: taken };
  const anyNow = (counters[lateOf(name)] ?? 0) > 0;
  const past = anyNow ? taken - countAfter([row], stamp) : 0;
  const ahead = { from: timeOf(row, past), step: row.step, count: taken - past };
  const given = withRun(withRun(limit.runs, { from: stamp, step: 0, count: past }), ahead);
  const by = (one: Priority) => counters[takenBy(name, one)] ?? 0;
  return {
    ...limit,
    runs: dropUpTo(given, now - limit.windowMs),
    due: timeOf(row, taken),
    seen: everyPriority((one) => (by(one) > 0 ? stamp : limit.seen[one])),
    floors: everyPriority((one) => {
      const saved = floorOf(limit, one, now - at) - by(one);
      return Math.min(mostFloor, Math.max(-mostAhead * priorities[one].floor, saved));
    }),
  };
}

/** What the floor of a priority allows so long after the plan's beginning. */
export const floorOf = ({ floors, step }: LimitSchedule, priority: Priority, sinceMs: number): number =>
  floors[priority] + (Math.max(0, sinceMs) / step) * priorities[priority].floor;

/** Sets the row: unused pace is made up for, all of it after idling and little while demand lasts. */
function paced(
  limit: LimitSchedule,
  now: number,
  { capacity, windowMs, stepMs, burst }: LimitWindow,
): { readonly limit: LimitSchedule; readonly until: number } {
  const { runs } = limit;
  const credit = isSustained(runs, now, stepMs) ? burst : capacity;
  let due = Math.max(limit.due, limit.closedUntil, now - (credit - 1) * stepMs);
  let step = stepMs;
  let until = Number.POSITIVE_INFINITY;
  const start = now - windowMs;
  const room = capacity - countAfter(runs, start);
  const leaves = nthAfter(runs, start, Math.max(1, 1 - room));
  if (leaves !== undefined && room <= 0) due = Math.max(due, leaves + windowMs);
  else if (leaves !== undefined && due > now - burst * stepMs) {
    // What is left has to last until the first leaves the window: slower now rather than nothing then.
    step = Math.max(stepMs, (leaves + windowMs - Math.max(now, due)) / (room + 1));
    if (step > stepMs) until = Math.max(now + nowMs, leaves + windowMs);
  }
  return { limit: { ...limit, due, step, windowMs }, until };
}

/** Whether demand was at the pace a moment ago, so that it is no burst after idling. */
function isSustained(runs: readonly Run[], now: number, stepMs: number): boolean {
  const span = 10 * stepMs;
  return countAfter(runs, now - 2 * span) - countAfter(runs, now - span) >= 8;
}

/** With nothing due in the limit before `until`. */
export function withBlocked(plan: Schedule, name: string, until: number): Schedule {
  const limit = plan.limits[name];
  if (!limit) return plan;
  const closing = { ...limit, closedUntil: until, due: Math.max(limit.due, until) };
  return { ...plan, limits: { ...plan.limits, [name]: closing } };
}
