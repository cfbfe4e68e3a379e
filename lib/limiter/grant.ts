/**
 * Decides what one instance does with a schedule that it has read: take permits for now, reserve later ones, renew the
 * schedule, or wait for another attempt.
 */

import { floorAheadMs, type LimitWindow, moreUrgentThan, type Priority, priorities } from './limits.ts';
import type { RefusalReason, Remaining } from './permit.ts';
import {
  countAfter,
  floorOf,
  immediateCounter,
  isShare,
  type LimitSchedule,
  priorityCounter,
  type ScheduleView,
  takenCounter,
  timeOf,
} from './schedule.ts';
import { hasRoomAt, type Room, roomOf, withShare } from './shares.ts';
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

/** Time in which a permit may be used, in milliseconds since the epoch by the instance's own clock. */
export interface Validity {
  readonly validFrom: number;
  readonly expiresAt: number;
  /** Earliest time at which a counter may hold the permit; absent where the store does not count it. */
  readonly countedFrom?: number;
}

/** Why a schedule grants nothing to a request, and when it may. */
export interface Exhausted {
  readonly kind: 'exhausted';
  readonly reason: RefusalReason;
  /** The first of the limits that grants nothing. */
  readonly usedUp: string;
  /** Whether permits were granted so recently that some may come back unused. */
  readonly mayReturn: boolean;
  /** Time before which another attempt is useless. */
  readonly notBefore: number;
  /** Earliest time of a permit. */
  readonly earliest: number;
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
/** Longest time from a permit's grant to its return, in milliseconds. */
const mayReturnMs = 2500;

/** One limit of a view. */
interface ViewedLimit {
  readonly name: string;
  readonly limit: LimitSchedule;
  readonly window: LimitWindow;
  /** Permits taken under this schedule. */
  readonly taken: number;
}

/** Undefined for a limit without a schedule or a window. */
function limitIn({ schedule, counters, windows }: ScheduleView, name: string): ViewedLimit | undefined {
  const limit = schedule.limits[name];
  const window = windows.get(name);
  return limit && window && { name, limit, window, taken: counters[takenCounter(name)] ?? 0 };
}

/** The permits that the schedule grants; undefined when there are none, or it has to be renewed first. */
export function grantOf(view: ScheduleView, request: GrantRequest): Grant | undefined {
  const { schedule, now } = view;
  const [outer, ...narrower] = request.limits;
  const wide = limitIn(view, outer);
  if (!wide || now >= schedule.renewAt) return undefined;
  const isImmediate = now <= schedule.immediateUntil;
  // A narrower limit has no queue: its permits are for now, even if the wide limit's are for later.
  if (narrower.length > 0 && !isImmediate) return undefined;
  const yields = mustYield(view, wide, request);
  const byFloor = yields ? floorLeft(view, wide, request) : 0;
  const hasFloor = byFloor >= 1;
  const keptOf = (one: ViewedLimit) => (yields && !hasFloor ? keptFor(request, one) : 0);
  const paceOf = (one: ViewedLimit) => (hasFloor ? byFloor : withinPace(view, one, request));
  const rooms = narrower.flatMap((name): Room | readonly Room[] => {
    if (isShare(name)) return roomOf(view, name) ?? [];
    const one = limitIn(view, name);
    if (!one) return { name, room: 0, left: 0 };
    const left = openAt(one, now) - keptOf(one);
    return { name, room: Math.min(left - one.taken, paceOf(one)), left };
  });
  const max = Math.min(request.count, paceOf(wide), ...rooms.map(({ room }) => room));
  if (max < 1) return undefined;

  const { taken } = wide;
  const open = isImmediate ? openAt(wide, now) - keptOf(wide) : 0;
  if (open > taken) {
    const count = Math.min(max, open - taken);
    return grantWith(view, request, { mode: 'now', count, min: 0, max: open - count }, rooms);
  }
  if (yields && !hasFloor) return undefined;
  const aheadMs = yields ? floorAheadMs : aheadOf(request);
  const horizon = Math.min(request.latestDeadline(), now + aheadMs);
  const range = reservable(wide, now - view.permitLifeMs / 2, horizon);
  if (!range) return undefined;
  const { first, end } = range;
  const count = Math.min(max, end - taken);
  return grantWith(view, request, { mode: 'reserved', count, min: first, max: end - count }, rooms);
}

/** Whether there are more urgent requests, for which this one leaves headroom. */
const mustYield = (
  { counters, now }: ScheduleView,
  { name, limit: { lastTakenAt } }: ViewedLimit,
  { priority }: GrantRequest,
): boolean =>
  moreUrgentThan(priority).some(
    (one) => lastTakenAt[one] > now - activeMs || (counters[priorityCounter(name, one)] ?? 0) > 0,
  );

/** How far ahead a request may reserve. A user whose share counts leaves most of the queue to occasional users. */
const aheadOf = ({ limits, priority }: GrantRequest): number =>
  Math.min(priorities[priority].aheadMs, limits.some(isShare) ? shareAheadMs : Number.POSITIVE_INFINITY);

/** How many permits of a limit a request leaves to more urgent ones. */
const keptFor = ({ priority }: GrantRequest, { window }: ViewedLimit): number =>
  Math.floor(window.capacity * priorities[priority].headroom);

/** How many more permits are within the recent even pace, or within the part of the limit that may exceed it. */
function withinPace(
  { schedule: { startedAt }, now }: ScheduleView,
  { limit: { log, windowMs }, window: { capacity, stepMs }, taken }: ViewedLimit,
  { priority }: GrantRequest,
): number {
  const { burst } = priorities[priority];
  if (burst >= 1) return Number.POSITIVE_INFINITY;
  // A burst has at least one request, however small the limit is.
  const atOnce = Math.max(1, capacity * burst) - countAfter(log, now - windowMs) - taken;
  const since = startedAt - paceMs;
  const evenly = (catchUpFactor * (now - since)) / stepMs - countAfter(log, since) - taken;
  return Math.floor(Math.max(atOnce, evenly));
}

/** How many permits of the schedule are due now, including those already taken. */
function openAt({ limit, window: { capacity } }: ViewedLimit, now: number): number {
  const due = Math.floor((now - limit.due) / limit.step) + 1;
  return Math.min(due, capacity - countAfter(limit.log, now - limit.windowMs));
}

/** The permits, from number `taken` on, whose times lie between `from` and `to` and which the window holds. */
function reservable(
  { limit, window: { capacity }, taken }: ViewedLimit,
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
  { schedule, counters, now }: ScheduleView,
  { name, limit }: ViewedLimit,
  { priority }: GrantRequest,
): number {
  const taken = counters[priorityCounter(name, priority)] ?? 0;
  return Math.floor(floorOf(limit, priority, now - schedule.startedAt) - taken);
}

/** @param wide bounds of the widest limit's counter */
function grantWith(
  { counters }: ScheduleView,
  { limits: [outer], priority }: GrantRequest,
  { mode, count, ...wide }: Pick<Grant, 'mode' | 'count'> & Pick<Addition, 'min' | 'max'>,
  rooms: readonly Room[],
): Grant {
  const unbounded = { by: count, min: 0, max: Number.MAX_SAFE_INTEGER };
  let additions: readonly Addition[] = [
    { counter: takenCounter(outer), by: count, ...wide },
    { counter: priorityCounter(outer, priority), ...unbounded },
    ...(mode === 'now' ? [{ counter: immediateCounter(outer), ...unbounded }] : []),
  ];
  for (const { name, left } of rooms)
    additions = isShare(name)
      ? withShare(additions, count, { name, left }, counters)
      : [
          ...additions,
          { counter: takenCounter(name), ...unbounded, max: left - count },
          { counter: immediateCounter(name), ...unbounded },
        ];
  return { mode, count, additions };
}

/** The permits of a grant that was made at the view's time; the schedule and the counters are those after the write. */
export function permitsOf(
  view: ScheduleView,
  { mode, count }: Grant,
  { limits: [outer, ...narrower] }: GrantRequest,
): readonly Validity[] {
  const { schedule, permitLifeMs, now } = view;
  const { due, step } = schedule.limits[outer]!;
  const first = (view.counters[takenCounter(outer)] ?? 0) - count;
  // The schedule's log counts a reserved permit at its own time, and a permit for now from the schedule's start on, or from
  // the instance's own time where its clock is behind.
  const isReserved = mode === 'reserved' && narrower.length === 0;
  const countedFrom = isReserved ? Number.POSITIVE_INFINITY : schedule.startedAt;
  return Array.from({ length: count }, (_, index): Validity => {
    const validFrom = mode === 'now' ? now : timeOf({ from: due, step }, first + index);
    const expiresAt = validFrom + permitLifeMs;
    return { validFrom, expiresAt, countedFrom: Math.min(countedFrom, validFrom) };
  });
}

/** Permits left in the widest limit's window, and in the narrower one with the smallest part left, if that is smaller. */
export interface RemainingPermits {
  readonly remaining: number;
  readonly narrowest?: Remaining;
}

export function remainingOf(
  view: ScheduleView,
  [outer, ...narrower]: GrantRequest['limits'],
): RemainingPermits {
  const { schedule, counters, windows, now } = view;
  const leftOf = (name: string): Remaining => {
    const capacity = windows.get(name)?.capacity ?? 0;
    const { log = [], windowMs = 0 } = schedule.limits[name] ?? {};
    const inWindow = countAfter(log, now - windowMs) + (counters[takenCounter(name)] ?? 0);
    return { limit: name, capacity, remaining: Math.max(0, capacity - inWindow) };
  };
  const partOf = ({ remaining, capacity }: Remaining) => remaining / Math.max(1, capacity);
  const wide = leftOf(outer);
  const [narrowest] = narrower
    .filter((name) => !isShare(name))
    .map(leftOf)
    .filter((one) => partOf(one) < partOf(wide))
    .sort((a, b) => partOf(a) - partOf(b));
  return { remaining: wide.remaining, ...(narrowest && { narrowest }) };
}

/**
 * Why a new schedule, whose counters are zero, grants nothing.
 *
 * @param from earliest time of another attempt
 * @param seenAt when the item was last known to be current
 */
export function exhaustionOf(
  view: ScheduleView,
  request: GrantRequest,
  from: number,
  seenAt: number,
): Exhausted {
  const { limits } = view.schedule;
  const isBlocked = request.limits.some((name) => (limits[name]?.blockedUntil ?? 0) > view.now);
  const usedUp = usedUpOf(view, request);
  const { notBefore, earliest } = whenToAsk(view, request);
  // Some permits of the last read may come back long before the next one is due, but that never makes room in a share.
  const mayReturn =
    notBefore > view.now + mayReturnMs &&
    !isShare(usedUp) &&
    countAfter(limits[usedUp]?.log ?? [], seenAt - mayReturnMs) > 0;
  const exhausted = isShare(usedUp) ? 'share_exhausted' : 'exhausted';
  return {
    kind: 'exhausted',
    reason: isBlocked ? 'blocked' : exhausted,
    usedUp,
    mayReturn,
    notBefore: Math.max(from, notBefore),
    earliest: Math.max(from, earliest),
  };
}

/** The exhausted limit: the widest if it alone grants nothing, or else the first that grants nothing beside it. */
function usedUpOf(view: ScheduleView, request: GrantRequest): string {
  const [outer, ...narrower] = request.limits;
  const hasUsedUp = (share: string) =>
    view.schedule.limits[share]?.log.length && (roomOf(view, share)?.room ?? 1) < 1;
  // An exhausted share is reported before the shared limit, but only to a user who has used some of it.
  const share = narrower.find((name) => isShare(name) && hasUsedUp(name));
  if (share !== undefined) return share;
  const grants = (...inner: readonly string[]) => grantOf(view, { ...request, limits: [outer, ...inner] });
  return (grants() && narrower.find((name) => !isShare(name) && !grants(name))) ?? outer;
}

/** The time of the next worthwhile attempt, and of the earliest permit, under a schedule that grants nothing now. */
function whenToAsk(
  view: ScheduleView,
  request: GrantRequest,
): { readonly notBefore: number; readonly earliest: number } {
  const { now } = view;
  const [outer, ...narrower] = request.limits;
  const wide = limitIn(view, outer);
  if (!wide) return { notBefore: now, earliest: now };
  const { limit } = wide;
  const pacedAfter = (one: ViewedLimit) => {
    const lacking = Math.max(0, 1 - withinPace(view, one, request));
    return now + (lacking * one.window.stepMs) / catchUpFactor;
  };
  const dueAfterOthers = (one: ViewedLimit) => one.limit.due + keptFor(request, one) * one.limit.step;
  const pacedAt = pacedAfter(wide);
  const yields = mustYield(view, wide, request);
  const { floor } = priorities[request.priority];
  const floorAt = Math.max(now, now + ((1 - limit.floors[request.priority]) * limit.step) / floor);
  let notBefore = Math.max(pacedAt, limit.due - aheadOf(request));
  let earliest = Math.max(pacedAt, limit.due);
  if (yields) {
    // A permit that is already due counts towards the headroom.
    const afterOthers = Math.max(pacedAt, dueAfterOthers(wide));
    notBefore = Math.max(limit.blockedUntil, Math.min(afterOthers, floorAt));
    earliest = notBefore;
  }
  for (const name of narrower) {
    if (isShare(name)) notBefore = Math.max(notBefore, hasRoomAt(view, name));
    const one = limitIn(view, name);
    if (!one) continue;
    const { due } = one.limit;
    const pacedFrom = Math.max(pacedAfter(one), due);
    const afterOthers = Math.max(pacedFrom, dueAfterOthers(one));
    const at = yields ? Math.max(due, Math.min(afterOthers, floorAt)) : pacedFrom;
    notBefore = Math.max(notBefore, now, at);
  }
  return { notBefore, earliest: Math.max(earliest, narrower.length > 0 ? notBefore : 0) };
}
