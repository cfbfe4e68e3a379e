/**
 * Decides what one instance does with a schedule that it has read: take permits for now, reserve later ones, renew the
 * schedule, or wait for another attempt.
 */

import { floorAheadMs, type LimitWindow, moreUrgentThan, type Priority, priorities } from './options.ts';
import {
  type Counters,
  countAfter,
  floorOf,
  immediateCounter,
  isShare,
  type LimitSchedule,
  priorityCounter,
  type Schedule,
  takenCounter,
  timeOf,
} from './schedule.ts';
import { hasRoomAt, roomOf, withShares } from './shares.ts';
import type { Addition } from './store.ts';

/** A request for several permits of one kind. */
export interface GrantRequest {
  /** Limits that each permit counts against. The first, the widest, has the queue. */
  readonly limits: readonly [string, ...string[]];
  readonly priority: Priority;
  readonly count: number;
  /** Deadline of the most patient waiting request. */
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
/** Time over which the even pace is measured. */
const paceMs = 2000;
/** How much faster than the even pace a priority with a bounded burst may go, to catch up. */
const catchUpFactor = 1.3;
/** How far ahead users whose shares count may reserve, in milliseconds. */
const shareAheadMs = 500;
/** Most permits reserved at once: far more than one instance can use before they expire. */
const maxReserved = 64;

/** Whether there are more urgent requests, for which this one leaves headroom. */
const mustYield = (
  { lastTakenAt }: LimitSchedule,
  { limits: [outer], priority }: GrantRequest,
  counters: Counters,
  now: number,
): boolean =>
  moreUrgentThan(priority).some(
    (one) => lastTakenAt[one] > now - activeMs || (counters[priorityCounter(outer, one)] ?? 0) > 0,
  );

/** The permits that the schedule grants at `now`; undefined when there are none, or it has to be renewed first. */
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
  const yields = mustYield(limit, request, counters, now);
  const byFloor = yields ? floorLeft(limit, counters, request, now - schedule.startedAt) : 0;
  const hasFloor = byFloor >= 1;
  const keptOf = ({ capacity }: LimitWindow) => (yields && !hasFloor ? keptFor(request, capacity) : 0);
  const paceOf = (name: string, one: LimitSchedule, itsWindow: LimitWindow) =>
    hasFloor ? byFloor : withinPace(schedule, one, counters, name, request, itsWindow, now);
  // A narrower limit has no queue: its permits are for now, even if the wide limit's are for later.
  if (narrower.length > 0 && now > schedule.immediateUntil) return undefined;
  const shares = narrower.filter(isShare).flatMap((name) => {
    const room = roomOf(schedule, counters, name, windows, now);
    return room ? { name, ...room } : [];
  });
  const narrow = narrower.flatMap((name): NarrowRoom | readonly NarrowRoom[] => {
    if (isShare(name)) return [];
    const [one, itsWindow] = [schedule.limits[name], windows.get(name)];
    if (!one || !itsWindow) return { name, room: 0, open: 0 };
    const open = openAt(one, itsWindow, now) - keptOf(itsWindow);
    const room = open - (counters[takenCounter(name)] ?? 0);
    return { name, room: Math.min(room, paceOf(name, one, itsWindow)), open };
  });
  const max = Math.min(
    request.count,
    paceOf(outer, limit, window),
    ...[...narrow, ...shares].map(({ room }) => room),
  );
  if (max < 1) return undefined;
  const aheadMs = aheadOf(request);
  const kept = keptOf(window);
  const taken = counters[takenCounter(outer)] ?? 0;

  const open = now <= schedule.immediateUntil ? openAt(limit, window, now) - kept : 0;
  if (open > taken) {
    const count = Math.min(max, open - taken);
    const grant = grantWith('now', count, request, { min: 0, max: open - count }, narrow);
    return withShares(grant, shares, counters);
  }
  if (yields && !hasFloor) return undefined;
  const horizon = Math.min(request.latestDeadline(), now + (yields ? floorAheadMs : aheadMs));
  const range = reservable(limit, window, taken, now - permitLifeMs / 2, horizon);
  if (!range) return undefined;
  const count = Math.min(max, range.end - taken);
  const grant = grantWith('reserved', count, request, { min: range.first, max: range.end - count }, narrow);
  return withShares(grant, shares, counters);
}

/** How far ahead a request may reserve. A user whose share counts leaves most of the queue to occasional users. */
const aheadOf = ({ limits, priority }: GrantRequest): number =>
  Math.min(priorities[priority].aheadMs, limits.some(isShare) ? shareAheadMs : Number.POSITIVE_INFINITY);

/** How many permits of a limit a request leaves to more urgent ones. */
const keptFor = ({ priority }: GrantRequest, capacity: number): number =>
  Math.floor(capacity * priorities[priority].headroom);

/** How many more permits are within the recent even pace, or within the part of the limit that may exceed it. */
function withinPace(
  { startedAt }: Schedule,
  { log, windowMs }: LimitSchedule,
  counters: Counters,
  name: string,
  { priority }: GrantRequest,
  { capacity, stepMs }: LimitWindow,
  now: number,
): number {
  const { burst } = priorities[priority];
  if (burst >= 1) return Number.POSITIVE_INFINITY;
  const taken = counters[takenCounter(name)] ?? 0;
  // A burst has at least one request, however small the limit is.
  const atOnce = Math.max(1, capacity * burst) - countAfter(log, now - windowMs) - taken;
  const since = startedAt - paceMs;
  const evenly = (catchUpFactor * (now - since)) / stepMs - countAfter(log, since) - taken;
  return Math.floor(Math.max(atOnce, evenly));
}

/** How many permits of the schedule are due now, including those already taken. */
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

/** The room of a narrower limit: further permits, and all open ones, less those kept for more urgent requests. */
interface NarrowRoom {
  readonly name: string;
  readonly room: number;
  readonly open: number;
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

/** The time of the next worthwhile attempt, and of the earliest permit, under a schedule that grants nothing now. */
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
  const { floor } = priorities[request.priority];
  const aheadMs = aheadOf(request);
  const pacedAfter = (name: string, one: LimitSchedule, itsWindow: LimitWindow) => {
    const lacking = Math.max(0, 1 - withinPace(schedule, one, {}, name, request, itsWindow, now));
    return now + (lacking * itsWindow.stepMs) / catchUpFactor;
  };
  const pacedAt = pacedAfter(outer, limit, window);
  const yields = mustYield(limit, request, {}, now);
  const floorAt = Math.max(now, now + ((1 - limit.floors[request.priority]) * limit.step) / floor);
  let notBefore = Math.max(pacedAt, limit.due - aheadMs);
  let earliest = Math.max(pacedAt, limit.due);
  if (yields) {
    // A permit that is already due counts towards the headroom.
    const afterOthers = Math.max(pacedAt, limit.due + keptFor(request, window.capacity) * limit.step);
    notBefore = Math.max(limit.blockedUntil, Math.min(afterOthers, floorAt));
    earliest = notBefore;
  }
  for (const name of narrower) {
    if (isShare(name)) notBefore = Math.max(notBefore, hasRoomAt(schedule, name, windows, now));
    const [one, itsWindow] = [schedule.limits[name], windows.get(name)];
    if (!one || !itsWindow) continue;
    const pacedFrom = Math.max(pacedAfter(name, one, itsWindow), one.due);
    const afterOthers = Math.max(pacedFrom, one.due + keptFor(request, itsWindow.capacity) * one.step);
    notBefore = Math.max(
      notBefore,
      now,
      yields ? Math.max(one.due, Math.min(afterOthers, floorAt)) : pacedFrom,
    );
  }
  return { notBefore, earliest: Math.max(earliest, narrower.length > 0 ? notBefore : 0) };
}
