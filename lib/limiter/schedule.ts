/**
 * The schedule, on which all instances agree, so that each can take permits without asking the others. For each limit it
 * holds the log of earlier permits and the times of the next ones: permit n is due at `due + n · step`. A counter beside
 * the schedule holds the number of permits taken, so that concurrent instances need not wait for each other; only one at a
 * time can renew the schedule.
 *
 * A permit whose time has come is taken for now, and counts at the end of the schedule's immediate phase,
 * because no instance notes exactly when; a permit whose time is still to come is reserved, and counts at its
 * very time. Under saturation all are reserved, and nothing is lost.
 */

import {
  allPriorities,
  byPriority,
  floorAheadMs,
  type LimitWindow,
  type Priority,
  priorities,
  type Windows,
} from './limits.ts';

/** `count` permits at `from`, `from + step`, …: milliseconds since the epoch, fractions included. */
export interface GrantRun {
  readonly from: number;
  readonly step: number;
  readonly count: number;
}

/**
 * When permits were granted, run-length encoded: a minute of steady use is one run, a burst is another, so
 * that a whole window fits into a small item.
 */
type GrantLog = readonly GrantRun[];

/** The schedule of one limit. */
export interface LimitSchedule {
  /** Permits that were granted before this schedule and still count. */
  readonly log: GrantLog;
  readonly due: number;
  readonly step: number;
  readonly windowMs: number;
  /** After the upstream's own refusal no permit is due before this time; 0 when there was none. */
  readonly blockedUntil: number;
  /** When a request of each priority last took a permit. */
  readonly lastTakenAt: Readonly<Record<Priority, number>>;
  /** How many permits of its floor each priority had left when the schedule began; negative if it had used more. */
  readonly floors: Readonly<Record<Priority, number>>;
}

export interface Schedule {
  readonly startedAt: number;
  /** The end of the immediate phase: until then permits are granted for now. */
  readonly immediateUntil: number;
  readonly renewAt: number;
  /** Last time of an unreadable text, which hides the permits granted until then; 0: never. */
  readonly unreadAt: number;
  readonly limits: Readonly<Record<string, LimitSchedule>>;
}

/** The counters of the item that holds the schedule, by name. */
export type PermitCounters = Readonly<Record<string, number>>;

/** A schedule and its counters as an instance sees them at one moment. */
export interface ScheduleView {
  readonly schedule: Schedule;
  readonly counters: PermitCounters;
  readonly windows: Windows;
  readonly permitLifeMs: number;
  readonly now: number;
}

// These names are stored: instances of another version count by them too.
export const takenCounter = (limit: string) => limit;
export const immediateCounter = (limit: string) => `${limit}/now`;
/** Counter of a limit's permits that came back since the schedule began; versions without it leave them in the log. */
export const returnedCounter = (limit: string) => `${limit}/returned`;
/** Name of a user's share, which is stored beside the limits; no limit's name contains `@`. */
export const shareOf = (limit: string, user: string) => `${limit}@${user}`;
export const isShare = (name: string) => name.includes('@');
/** The limit to which a share belongs. */
export const baseOf = (share: string) => share.slice(0, share.indexOf('@'));
export const priorityCounter = (limit: string, priority: Priority) => `${limit}/${priority}`;

/** Whether an item holds so many shares that another one is not counted. */
export const hasAllShares = (limits: Schedule['limits']) =>
  Object.keys(limits).filter(isShare).length >= maxShares;
const isWide = (name: string, windows: Windows) =>
  windows.has(name) && windows.get(name)?.within === undefined;
const isNarrow = (name: string, windows: Windows) => isShare(name) || windows.get(name)?.within !== undefined;

/** Length of the immediate phase: short, because a permit for now counts at its end, but each renewal costs a write. */
const immediateMs = 1000;
const renewAfterMs = 10_000;
/** Longest time before the schedule's start at which a permit was granted that may still come back. */
const returnMs = 5000;
/** Most permits of its floor that a priority may save up. */
const maxSavedFloor = 3;
/** Most steps for which a priority that used more than its floor waits for it. */
const maxFloorDelaySteps = 300;
/** Most runs in a narrower limit's log: there may be dozens of narrower limits in one item. */
const maxNarrowRuns = 16;
/** Most shares in an item: its conditions name each counter, and DynamoDB accepts 4 KB of them. */
const maxShares = 64;
/** Tolerance in comparing times: far below a millisecond, far above the rounding of a double at the size of a time. */
const toleranceMs = 0.01;

export const timeOf = ({ from, step }: Omit<GrantRun, 'count'>, index: number): number => from + index * step;

/** Number of the log's permits that are later than `time`. */
export function countAfter(log: GrantLog, time: number): number {
  let total = 0;
  for (const run of log) total += run.count - countUpTo(run, time);
  return total;
}

function countUpTo({ from, step, count }: GrantRun, time: number): number {
  const passed = time - from + toleranceMs;
  if (passed < 0) return 0;
  return step === 0 ? count : Math.min(count, Math.floor(passed / step) + 1);
}

/** The time of the `nth` permit after `time`, counted from 1; undefined when there are fewer. */
export function nthAfter(log: GrantLog, time: number, nth: number): number | undefined {
  const times: number[] = [];
  for (const run of log)
    for (let index = countUpTo(run, time); index < run.count; index++) times.push(timeOf(run, index));
  return times.sort((a, b) => a - b)[nth - 1];
}

/** The log without the permits up to `time`. */
export function dropUpTo(log: GrantLog, time: number): GrantRun[] {
  return log.flatMap((run) => {
    const passed = countUpTo(run, time);
    if (passed === run.count) return [];
    return passed === 0 ? [run] : [{ from: timeOf(run, passed), step: run.step, count: run.count - passed }];
  });
}

/**
 * The log without the first `count` permits after a time. Each window still holds at least the permits that were not given
 * back: every returned permit has an entry after that time, and none of the removed entries is later than it.
 */
export function withoutFirst(log: GrantLog, after: number, count: number): GrantLog {
  if (count === 0) return log;
  const before = log.map((run) => ({ ...run, count: countUpTo(run, after) })).filter((run) => run.count > 0);
  const last = nthAfter(log, after, count);
  if (last === undefined) return before;
  // Entries within the tolerance count at the latest of their times.
  const sameTime = countAfter(log, after) - countAfter(log, last) - count;
  return withRun([...before, ...dropUpTo(log, last)], { from: last + toleranceMs, step: 0, count: sameTime });
}

/**
 * Time after which a permit's own entry must be for the permit to come back under this schedule. An older entry may have
 * left the log, and the permit would remove another one's.
 */
export const returnableAfter = ({ startedAt }: Schedule, { windowMs }: LimitSchedule): number =>
  startedAt - Math.min(returnMs, windowMs / 2);

/** The log with one more run, joined to the last one if it continues that with the same step. */
export function withRun(log: GrantLog, run: GrantRun): GrantLog {
  if (run.count === 0) return log;
  const last = log.at(-1);
  if (!last) return [run];
  const continues =
    last.step === run.step && Math.abs(timeOf(last, last.count) - run.from) < toleranceMs / 10;
  const repeats = last.count > 0 && run.step === 0 && last.step === 0 && last.from === run.from;
  return continues || repeats
    ? [...log.slice(0, -1), { ...last, count: last.count + run.count }]
    : [...log, run];
}

/**
 * A narrower limit's log with one more run. Its permits are all for now; those of the same part of the window become one
 * run at the latest time. A permit counted later than it was granted stays in the window longer, never shorter.
 */
function withCoarseRun(log: GrantLog, run: GrantRun, windowMs: number): GrantLog {
  const last = log.at(-1);
  const partOf = ({ from }: GrantRun) => Math.floor((from * maxNarrowRuns) / windowMs);
  const isJoined = last?.step === 0 && run.step === 0 && run.count > 0 && partOf(last) === partOf(run);
  if (!isJoined) return withRun(log, run);
  return [
    ...log.slice(0, -1),
    { from: Math.max(last.from, run.from), step: 0, count: last.count + run.count },
  ];
}

/** The first schedule of a limit: no permit was granted for a time after `last`; before that, all may have been. */
const firstSchedule = (
  now: number,
  { capacity, windowMs, stepMs }: LimitWindow,
  last: number,
): LimitSchedule => ({
  log: dropUpTo([{ from: last, step: 0, count: capacity }], now - windowMs),
  due: now - windowMs,
  step: stepMs,
  windowMs,
  blockedUntil: 0,
  lastTakenAt: byPriority(() => 0),
  floors: byPriority(() => 0),
});

/** The schedule for an unreadable item: every permit counts as granted, so that it is right again one window later. */
export const exhaustedSchedule = (now: number): Schedule => ({
  startedAt: now,
  immediateUntil: now,
  renewAt: now,
  unreadAt: now,
  limits: {},
});

/**
 * The schedule that follows at `now`, with all counters at zero. Limits that only other instances know, and narrower
 * limits, of which there may be dozens, stay in it only while they are in use.
 *
 * @param wanted limits that a request is about to count against, which the schedule always contains
 */
export function renewedSchedule(
  schedule: Schedule | undefined,
  counters: PermitCounters,
  now: number,
  windows: Windows,
  wanted: readonly string[] = [],
): Schedule {
  const { unreadAt = 0 } = schedule ?? {};
  const limits: Record<string, LimitSchedule> = {};
  for (const name of Object.keys(schedule?.limits ?? {})) {
    const limit = withTaken(schedule!, name, counters, now, isNarrow(name, windows));
    if (isWide(name, windows) || limit.log.length > 0 || limit.blockedUntil > now) limits[name] = limit;
  }
  let renewAt = now + renewAfterMs;
  for (const [name, window] of windows) {
    if (!isWide(name, windows) && !limits[name] && !wanted.includes(name)) continue;
    // A wide limit's permits may be for times up to `floorAheadMs` ahead; a narrower limit's window includes that time.
    const last = unreadAt + (isWide(name, windows) ? floorAheadMs : 0);
    const { limit, until } = withPace(limits[name] ?? firstSchedule(now, window, last), now, window);
    limits[name] = limit;
    renewAt = Math.min(renewAt, until);
  }
  for (const name of wanted) {
    if (!isShare(name) || limits[name] || hasAllShares(limits)) continue;
    const window = windows.get(baseOf(name));
    if (window) limits[name] = firstSchedule(now, window, 0);
  }
  return { startedAt: now, immediateUntil: now + immediateMs, renewAt, unreadAt, limits };
}

/** Moves the permits that were taken under the old schedule into the log. */
function withTaken(
  schedule: Schedule,
  name: string,
  counters: PermitCounters,
  now: number,
  isCoarse: boolean,
): LimitSchedule {
  const { startedAt, immediateUntil } = schedule;
  const limit = schedule.limits[name]!;
  const taken = counters[takenCounter(name)] ?? 0;
  const returned = counters[returnedCounter(name)] ?? 0;
  // Every taker wrote before this instance read, so this instance's clock may replace the taker's.
  const countedAt = Math.min(immediateUntil, now);
  const times = { from: limit.due, step: limit.step, count: taken };
  const hasImmediate = isShare(name) || (counters[immediateCounter(name)] ?? 0) > 0;
  const immediate = hasImmediate ? taken - countAfter([times], countedAt) : 0;
  const reserved = { from: timeOf(times, immediate), step: times.step, count: taken - immediate };
  const immediateRun = { from: countedAt, step: 0, count: immediate };
  const withImmediate = isCoarse
    ? withCoarseRun(limit.log, immediateRun, limit.windowMs)
    : withRun(limit.log, immediateRun);
  // Returned permits are removed before old ones are dropped, because one of them may be old.
  const log = withoutFirst(withRun(withImmediate, reserved), returnableAfter(schedule, limit), returned);
  const next = timeOf(times, taken - returned);
  // A time beyond any queue came from a full log, which delayed the next permit until the first one left the window.
  const due = returned > 0 && next > now + floorAheadMs ? now : next;
  const takenBy = (one: Priority) => counters[priorityCounter(name, one)] ?? 0;
  return {
    ...limit,
    log: dropUpTo(log, now - limit.windowMs),
    due: Math.max(limit.blockedUntil, due),
    lastTakenAt: byPriority((one) => (takenBy(one) > 0 ? countedAt : limit.lastTakenAt[one])),
    floors: byPriority((one) => {
      const saved = floorOf(limit, one, now - startedAt) - takenBy(one);
      return Math.min(maxSavedFloor, Math.max(-maxFloorDelaySteps * priorities[one].floor, saved));
    }),
  };
}

/** Number of permits that a priority's floor allows `sinceMs` after the schedule's start. */
export const floorOf = ({ floors, step }: LimitSchedule, priority: Priority, sinceMs: number): number =>
  floors[priority] + (Math.max(0, sinceMs) / step) * priorities[priority].floor;

/** Sets the times of the next permits. Unused pace is caught up: all of it after idling, little while demand lasts. */
function withPace(
  limit: LimitSchedule,
  now: number,
  { capacity, windowMs, stepMs, burst }: LimitWindow,
): { readonly limit: LimitSchedule; readonly until: number } {
  const { log } = limit;
  const credit = isSustained(log, now, stepMs) ? burst : capacity;
  let due = Math.max(limit.due, limit.blockedUntil, now - (credit - 1) * stepMs);
  let step = stepMs;
  let until = Number.POSITIVE_INFINITY;
  const start = now - windowMs;
  const room = capacity - countAfter(log, start);
  /** The permit whose exit from the window makes room for the next one. */
  const leaving = nthAfter(log, start, Math.max(1, 1 - room));
  if (leaving !== undefined && room <= 0) due = Math.max(due, leaving + windowMs);
  else if (leaving !== undefined && due > now - burst * stepMs) {
    // The remaining permits must last until the first one leaves the window: slower now rather than none later.
    step = Math.max(stepMs, (leaving + windowMs - Math.max(now, due)) / (room + 1));
    if (step > stepMs) until = Math.max(now + immediateMs, leaving + windowMs);
  }
  return { limit: { ...limit, due, step, windowMs }, until };
}

/** Whether at least 8 of 10 permits were used a moment ago, so that demand now is no burst after idling. */
function isSustained(log: GrantLog, now: number, stepMs: number): boolean {
  const spanMs = 10 * stepMs;
  return countAfter(log, now - 2 * spanMs) - countAfter(log, now - spanMs) >= 8;
}

/** The schedule with no permit of the limit due before `until`. */
export function withBlocked(schedule: Schedule, name: string, until: number): Schedule {
  const limit = schedule.limits[name];
  if (!limit) return schedule;
  const blocked = { ...limit, blockedUntil: until, due: Math.max(limit.due, until) };
  return { ...schedule, limits: { ...schedule.limits, [name]: blocked } };
}

/**
 * Limits to block together with `limit`. If another limit is blocked, too, the limit around them may be the exhausted one.
 *
 * @param blocked all blocked limits, including `limit`
 */
export function blockedWith(limit: string, blocked: readonly string[], within: string | undefined) {
  return blocked.length > 1 && within !== undefined ? [limit, within] : [limit];
}

/** The counters of a new schedule, all zero; priorities are counted only under the widest limit. */
export const zeroCounters = ({ limits }: Schedule, windows: Windows): PermitCounters =>
  Object.fromEntries(
    Object.keys(limits)
      .flatMap((name) => [
        takenCounter(name),
        ...(isShare(name) ? [] : [immediateCounter(name), returnedCounter(name)]),
        ...(isNarrow(name, windows) ? [] : allPriorities.map((one) => priorityCounter(name, one))),
      ])
      .map((counter) => [counter, 0]),
  );

/** Version of the text, raised when its meaning changes. */
const version = 2;

/** The schedule as an item's text. */
export function scheduleText({ limits, ...schedule }: Schedule): string {
  const entries = Object.entries(limits).map(([name, { log, ...limit }]) => [
    name,
    // Runs are written without member names, because a log may be long.
    { ...limit, log: log.map(({ from, step, count }) => [from, step, count]) },
  ]);
  return JSON.stringify({ version, ...schedule, limits: Object.fromEntries(entries) });
}

/** Reads a schedule, and checks every number, because a wrong one would grant too much; undefined when the text is none. */
export function readSchedule(text: string): Schedule | undefined {
  try {
    const stored = record(JSON.parse(text));
    if (stored.version !== version) return undefined;
    const limits = Object.entries(record(stored.limits)).map(([name, limit]) => [name, readLimit(limit)]);
    return {
      startedAt: time(stored.startedAt),
      immediateUntil: time(stored.immediateUntil),
      renewAt: time(stored.renewAt),
      unreadAt: time(stored.unreadAt),
      limits: Object.fromEntries(limits) as Record<string, LimitSchedule>,
    };
  } catch {
    return undefined;
  }
}

function readLimit(value: unknown): LimitSchedule {
  const stored = record(value);
  if (!Array.isArray(stored.log)) throw new TypeError('no log');
  return {
    log: stored.log.map(readRun),
    due: time(stored.due),
    step: positive(stored.step),
    windowMs: positive(stored.windowMs),
    blockedUntil: time(stored.blockedUntil),
    lastTakenAt: readByPriority(stored.lastTakenAt, time),
    floors: readByPriority(stored.floors, finite),
  };
}

function readRun(value: unknown): GrantRun {
  if (!Array.isArray(value)) throw new TypeError('no run');
  const [from, step, count] = value as readonly unknown[];
  if (!Number.isSafeInteger(count)) throw new TypeError('no count');
  return { from: time(from), step: time(step), count: positive(count) };
}

function readByPriority(value: unknown, read: (value: unknown) => number): Record<Priority, number> {
  const stored = record(value);
  return byPriority((one) => read(stored[one]));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new TypeError('no record');
  return value as Readonly<Record<string, unknown>>;
}

/** Checks a time: one beyond 2⁵³ − 1, far in the future, would not be exact. */
function time(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new TypeError('no time');
}

function finite(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError('no number');
}

function positive(value: unknown): number {
  if (time(value) === 0) throw new TypeError('not positive');
  return time(value);
}
