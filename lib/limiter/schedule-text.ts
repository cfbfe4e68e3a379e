/** The plan as the text of an item, and back; a text that is none is told from one that is. */

import type { Run } from './grant-log.ts';
import { allPriorities, type Priority } from './priorities.ts';
import type { LimitSchedule, Schedule } from './schedule.ts';

/** Another one when the text's meaning changes. */
const version = 1;
/** Instances of an earlier version take a text without this for none; what they write in it is not read. */
const forOlder = { memoryUntil: 0 };

export function scheduleText(plan: Schedule): string {
  const limits = Object.entries(plan.limits).map(([name, { runs, ...limit }]) => [
    name,
    { ...limit, runs: runs.map(({ from, step, count }) => [from, step, count]) },
  ]);
  return JSON.stringify({ version, ...plan, ...forOlder, limits: Object.fromEntries(limits) });
}

/** Undefined when the text is not a plan. */
export function readSchedule(text: string): Schedule | undefined {
  try {
    const said = record(JSON.parse(text));
    if (said.version !== version) return undefined;
    const limits = Object.entries(record(said.limits)).map(([name, limit]) => [name, readLimit(limit)]);
    return {
      at: time(said.at),
      end: time(said.end),
      renewAt: time(said.renewAt),
      limits: Object.fromEntries(limits) as Record<string, LimitSchedule>,
    };
  } catch {
    return undefined;
  }
}

function readLimit(value: unknown): LimitSchedule {
  const said = record(value);
  if (!Array.isArray(said.runs)) throw new TypeError('no runs');
  return {
    runs: said.runs.map(readRun),
    due: time(said.due),
    step: positive(said.step),
    windowMs: positive(said.windowMs),
    closedUntil: time(said.closedUntil),
    seen: byPriority(said.seen, time),
    floors: byPriority(said.floors, finite),
  };
}

function readRun(value: unknown): Run {
  if (!Array.isArray(value)) throw new TypeError('no run');
  const [from, step, count] = value as readonly unknown[];
  if (!Number.isSafeInteger(count)) throw new TypeError('no count');
  return { from: time(from), step: time(step), count: positive(count) };
}

function byPriority(value: unknown, read: (value: unknown) => number): Record<Priority, number> {
  const said = record(value);
  return Object.fromEntries(allPriorities.map((one) => [one, read(said[one])])) as Record<Priority, number>;
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
