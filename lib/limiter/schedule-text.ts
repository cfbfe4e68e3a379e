/**
 * The schedule as the text of an item, and back. Names and order of the text's members are stored: instances
 * of another version read and write them too. Therefore they are mapped here, and keep their words.
 */

import { byPriority, type Priority } from './options.ts';
import type { LimitSchedule, Run, Schedule } from './schedule.ts';

/** Another one when the text's meaning changes. */
const version = 1;
/** Instances of an earlier version take a text without this member for no schedule; its value is not read. */
const memoryUntil = 0;

export function scheduleText({ startedAt, immediateUntil, renewAt, limits }: Schedule): string {
  const entries = Object.entries(limits).map(([name, limit]) => [name, storedLimit(limit)]);
  return JSON.stringify({
    version,
    at: startedAt,
    end: immediateUntil,
    renewAt,
    limits: Object.fromEntries(entries),
    memoryUntil,
  });
}

const storedLimit = ({ due, step, windowMs, blockedUntil, lastTakenAt, floors, log }: LimitSchedule) => ({
  due,
  step,
  windowMs,
  closedUntil: blockedUntil,
  seen: lastTakenAt,
  floors,
  runs: log.map(({ from, step, count }) => [from, step, count]),
});

/** Undefined when the text is not a schedule. */
export function readSchedule(text: string): Schedule | undefined {
  try {
    const stored = record(JSON.parse(text));
    if (stored.version !== version) return undefined;
    const limits = Object.entries(record(stored.limits)).map(([name, limit]) => [name, readLimit(limit)]);
    return {
      startedAt: time(stored.at),
      immediateUntil: time(stored.end),
      renewAt: time(stored.renewAt),
      limits: Object.fromEntries(limits) as Record<string, LimitSchedule>,
    };
  } catch {
    return undefined;
  }
}

function readLimit(value: unknown): LimitSchedule {
  const stored = record(value);
  if (!Array.isArray(stored.runs)) throw new TypeError('no runs');
  return {
    log: stored.runs.map(readRun),
    due: time(stored.due),
    step: positive(stored.step),
    windowMs: positive(stored.windowMs),
    blockedUntil: time(stored.closedUntil),
    lastTakenAt: readByPriority(stored.seen, time),
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

/** 2⁵³ − 1 is far in the future, and a time beyond it would not be exact. */
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
