/** Converts the schedule to an item's text and back. Reading checks every number, because a wrong one would grant too much. */

import { byPriority, type Priority } from './options.ts';
import type { LimitSchedule, Run, Schedule } from './schedule.ts';

/** Version of the text, raised when its meaning changes. */
const version = 2;

export function scheduleText({ limits, ...schedule }: Schedule): string {
  const entries = Object.entries(limits).map(([name, { log, ...limit }]) => [
    name,
    // Runs are written without member names, because a log may be long.
    { ...limit, log: log.map(({ from, step, count }) => [from, step, count]) },
  ]);
  return JSON.stringify({ version, ...schedule, limits: Object.fromEntries(entries) });
}

/** Reads a schedule; undefined when the text is none. */
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

function readRun(value: unknown): Run {
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
