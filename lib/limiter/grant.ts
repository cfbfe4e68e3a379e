/**
 * What one instance does about a schedule that it has read: take permits for now, reserve later ones, renew
 * the schedule, or say when another attempt is worth while.
 */

import { floorAheadMs, type LimitWindow, moreUrgentThan, type Priority, priorities } from './options.ts';
import {
  type Counters,
  countAfter,
  floorOf,
  immediateCounter,
  type LimitSchedule,
  priorityCounter,
  type Schedule,
  takenCounter,
  timeOf,
} from './schedule.ts';
import type { Addition } from './store.ts';

/** A request for several permits of one kind. */
export interface GrantRequest {
  /** Each permit counts against all of them. The first, the widest, has the queue. */
  readonly limits: readonly [string, ...string[]];
  readonly priority: Priority;
  readonly count: number;
  /** When the most patient of the waiting requests gives up. */
  readonly latestDeadline: () => number;
}

/** How many permits a request gets, and the additions that take them. */
export interface Grant {
  readonly mode: 'now' | 'reserved';
  readonly count: number;
  readonly additions: readonly Addition[];
}

/** How long a more urgent priority counts as in demand after it last took a permit. */
const activeMs = 10_000;
/** The even pace is measured over so long, */
const paceMs = 2000;
/** and a priority with a bounded burst may go so much faster, to make up for what it missed before. */
const catchUpFactor = 1.3;
/** Far more than one instance can use before its permits expire. */
const maxReserved = 64;

/** Whether more urgent requests are there, for which this one leaves headroom. */
const mustYield = (
  { lastTakenAt }: LimitSchedule,
  { limits: [outer], priority }: GrantRequest,
  counters: Counters,
  now: number,
): boolean =>
  moreUrgentThan(priority).some(
    (one) => lastTakenAt[one] > now - activeMs || (counters[priorityCounter(outer, one)] ?? 0) > 0,
  );

/** What the schedule grants at `now`; undefined when nothing, perhaps because it has to be renewed. */
export function grantOf(
  schedule: Schedule,
  counters: Counters,
  request: GrantRequest,
  now: number,
  windows: ReadonlyMap<string, LimitWindow>,
  permitLifeMs: number,
): Grant | undefined {
  const [outer, ...narrower] = request.limits;
  const limit = schedule.limits[outer];
  const window = windows.get(outer);
  if (!limit || !window || now >= schedule.renewAt) return undefined;
  // A narrower limit has no queue: its permits are for now, however far ahead those of the wide one are.
  const narrow = narrower.length > 0 ? narrowRooms(schedule, counters, narrower, now, windows) : [];
  if (!narrow) return undefined;
  const yields = mustYield(limit, request, counters, now);
  const byFloor = yields ? floorLeft(limit, counters, request, now - schedule.startedAt) : 0;
  const hasFloor = byFloor >= 1;
  const paced = hasFloor ? byFloor : withinPace(schedule, limit, counters, request, window, now);
  const max = Math.min(request.count, paced, ...narrow.map(({ room }) => room));
  if (max < 1) return undefined;
  const { aheadMs, headroom } = priorities[request.priority];
  const kept = yields && !hasFloor ? Math.floor(window.capacity * headroom) : 0;
  const taken = counters[takenCounter(outer)] ?? 0;

  const open = now <= schedule.immediateUntil ? openAt(limit, window, now) - kept : 0;
  if (open > taken) {
    const count = Math.min(max, open - taken);
    return grantWith('now', count, request, { min: 0, max: open - count }, narrow);
  }
  if (yields && !hasFloor) return undefined;
  const horizon = Math.min(request.latestDeadline(), now + (yields ? floorAheadMs : aheadMs));
  const range = reservable(limit, window, taken, now - permitLifeMs / 2, horizon);
  if (!range) return undefined;
  const count = Math.min(max, range.end - taken);
  return grantWith('reserved', count, request, { min: range.first, max: range.end - count }, narrow);
}

/** How many more permits keep to the even pace of late, or to the part of the limit that may go faster. */
function withinPace(
  { startedAt }: Schedule,
  { log, windowMs }: LimitSchedule,
  counters: Counters,
  { limits: [outer], priority }: GrantRequest,
  { capacity, stepMs }: LimitWindow,
  now: number,
): number {
  const { burst } = priorities[priority];
  if (burst >= 1) return Number.POSITIVE_INFINITY;
  const taken = counters[takenCounter(outer)] ?? 0;
  // A burst is of one request at least, however small the limit is.
  const atOnce = Math.max(1, capacity * burst) - countAfter(log, now - windowMs) - taken;
  const since = startedAt - paceMs;
  const evenly = (catchUpFactor * (now - since)) / stepMs - countAfter(log, since) - taken;
  return Math.floor(Math.max(atOnce, evenly));
}

/** How many permits of the schedule may be taken for now, with those already taken. */
function openAt(limit: LimitSchedule, { capacity }: LimitWindow, now: number): number {
  const due = Math.floor((now - limit.due) / limit.step) + 1;
  return Math.min(due, capacity - countAfter(limit.log, now - limit.windowMs));
}

/** The permits, from number `taken` on, whose times lie between `from` and `to` and which the window holds. */
function reservable(
  limit: LimitSchedule,
  { capacity }: LimitWindow,
  taken: number,
  from: number,
  to: number,
): { readonly first: number; readonly end: number } | undefined {
  const times = { from: limit.due, step: limit.step };
  const first = Math.max(0, Math.ceil((from - times.from) / times.step));
  if (taken < first) return undefined;
  let end = taken;
  while (end < taken + maxReserved) {
    const time = timeOf(times, end);
    if (time > to || end + countAfter(limit.log, time - limit.windowMs) >= capacity) break;
    end++;
  }
  return end > taken ? { first, end } : undefined;
}

function floorLeft(
  limit: LimitSchedule,
  counters: Counters,
  { limits: [outer], priority }: GrantRequest,
  sinceMs: number,
): number {
  const taken = counters[priorityCounter(outer, priority)] ?? 0;
  return Math.floor(floorOf(limit, priority, sinceMs) - taken);
}

/** A narrower limit: how many permits it still has room for, and how many are open in all. */
interface NarrowRoom {
  readonly name: string;
  readonly room: number;
  readonly open: number;
}

function narrowRooms(
  schedule: Schedule,
  counters: Counters,
  names: readonly string[],
  now: number,
  windows: ReadonlyMap<string, LimitWindow>,
): readonly NarrowRoom[] | undefined {
  if (now > schedule.immediateUntil) return undefined;
  const rooms: NarrowRoom[] = [];
  for (const name of names) {
    const limit = schedule.limits[name];
    const window = windows.get(name);
    if (!limit || !window) return undefined;
    const open = openAt(limit, window, now);
    const room = open - (counters[takenCounter(name)] ?? 0);
    if (room < 1) return undefined;
    rooms.push({ name, room, open });
  }
  return rooms;
}

function grantWith(
  mode: Grant['mode'],
  count: number,
  { limits: [outer], priority }: GrantRequest,
  bounds: Pick<Addition, 'min' | 'max'>,
  narrow: readonly NarrowRoom[],
): Grant {
  const unbounded = { by: count, min: 0, max: Number.MAX_SAFE_INTEGER };
  const additions: Addition[] = [
    { counter: takenCounter(outer), by: count, ...bounds },
    { counter: priorityCounter(outer, priority), ...unbounded },
  ];
  if (mode === 'now') additions.push({ counter: immediateCounter(outer), ...unbounded });
  for (const { name, open } of narrow)
    additions.push(
      { counter: takenCounter(name), ...unbounded, max: open - count },
      { counter: immediateCounter(name), ...unbounded },
    );
  return { mode, count, additions };
}

/** When another attempt is worth while, and the earliest time of a permit, by a schedule that grants nothing. */
export function whenToAsk(
  schedule: Schedule,
  request: GrantRequest,
  now: number,
  windows: ReadonlyMap<string, LimitWindow>,
): { readonly notBefore: number; readonly earliest: number } {
  const [outer, ...narrower] = request.limits;
  const limit = schedule.limits[outer];
  const window = windows.get(outer);
  if (!limit || !window) return { notBefore: now, earliest: now };
  const { aheadMs, headroom, floor } = priorities[request.priority];
  const lacking = Math.max(0, 1 - withinPace(schedule, limit, {}, request, window, now));
  const pacedAt = now + (lacking * window.stepMs) / catchUpFactor;
  let notBefore = Math.max(pacedAt, limit.due - aheadMs);
  let earliest = Math.max(pacedAt, limit.due);
  if (mustYield(limit, request, {}, now)) {
    // A permit that is already due counts towards the headroom.
    const afterOthers = Math.max(pacedAt, limit.due + Math.floor(window.capacity * headroom) * limit.step);
    const byFloor = now + ((1 - limit.floors[request.priority]) * limit.step) / floor;
    notBefore = Math.max(limit.blockedUntil, Math.min(afterOthers, Math.max(now, byFloor)));
    earliest = notBefore;
  }
  for (const name of narrower)
    notBefore = Math.max(notBefore, windows.has(name) ? (schedule.limits[name]?.due ?? now) : now, now);
  return { notBefore, earliest: Math.max(earliest, narrower.length > 0 ? notBefore : 0) };
}
