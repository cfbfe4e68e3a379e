/** What one instance does about a plan that it has read: take, reserve, renew, or say when to come again. */

import { countAfter, timeOf } from './grant-log.ts';
import type { LimitWindow } from './options.ts';
import { floorAheadMs, moreUrgentThan, type Priority, priorities } from './priorities.ts';
import {
  type Counters,
  floorOf,
  type LimitSchedule,
  lateOf,
  type Schedule,
  takenBy,
  takenOf,
} from './schedule.ts';
import type { Addition } from './store.ts';

/** Some permissions for requests of one kind. */
export interface GrantRequest {
  /** Each permission draws from all of them. The first, the widest, has the queue. */
  readonly limits: readonly [string, ...string[]];
  readonly priority: Priority;
  readonly count: number;
  /** When the most patient of them stops waiting. */
  readonly latest: () => number;
}

/** How many permissions there are for a draw, and the additions that take them. */
export interface Grant {
  readonly mode: 'now' | 'reserved';
  readonly count: number;
  readonly additions: readonly Addition[];
}

/** How long somebody more urgent counts as asking after his last permission. */
const activeMs = 10_000;
/** So far back the even pace is measured, and so much faster may be made up for what was missed before. */
const paceMs = 2000;
const faster = 1.3;
/** Far more than one instance can use before its permissions expire. */
const mostAhead = 64;

const isHindered = ({ seen }: LimitSchedule, draw: GrantRequest, counters: Counters, now: number): boolean =>
  moreUrgentThan(draw.priority).some(
    (one) => seen[one] > now - activeMs || (counters[takenBy(draw.limits[0], one)] ?? 0) > 0,
  );

/** What the plan offers at `now`; undefined when nothing, perhaps because it has to be renewed. */
export function grantOf(
  plan: Schedule,
  counters: Counters,
  draw: GrantRequest,
  now: number,
  figures: ReadonlyMap<string, LimitWindow>,
  lifeMs: number,
): Grant | undefined {
  const [outer, ...narrower] = draw.limits;
  const limit = plan.limits[outer];
  const figure = figures.get(outer);
  if (!limit || !figure || now >= plan.renewAt) return undefined;
  // A narrower limit has no queue: its permissions are for now, however far ahead the wide one's are.
  const narrow = narrower.length > 0 ? narrowAdditions(plan, counters, narrower, now, figures) : [];
  if (!narrow) return undefined;
  const hindered = isHindered(limit, draw, counters, now);
  const due = hindered ? floorLeft(limit, counters, draw, now - plan.at) : 0;
  const paced = due >= 1 ? due : withinPace(plan, limit, counters, draw, figure, now);
  const most = Math.min(draw.count, paced, ...narrow.map(({ room }) => room));
  if (most < 1) return undefined;
  const leaves = hindered && due < 1 ? Math.floor(figure.capacity * priorities[draw.priority].leaves) : 0;
  const taken = counters[takenOf(outer)] ?? 0;

  const open = now <= plan.end ? openAt(limit, figure, now) - leaves : 0;
  if (open > taken) {
    const count = Math.min(most, open - taken);
    return offer('now', count, draw, { min: 0, max: open - count }, narrow);
  }
  if (hindered && due < 1) return undefined;
  const horizon = hindered ? floorAheadMs : priorities[draw.priority].aheadMs;
  const row = reservable(limit, figure, taken, now - lifeMs / 2, Math.min(draw.latest(), now + horizon));
  if (!row) return undefined;
  const count = Math.min(most, row.end - taken);
  return offer('reserved', count, draw, { min: row.first, max: row.end - count }, narrow);
}

/** How many more keep to the even pace of late, or to the part of the limit that may go faster. */
function withinPace(
  { at }: Schedule,
  { runs, windowMs }: LimitSchedule,
  counters: Counters,
  { limits: [outer], priority }: GrantRequest,
  { capacity, stepMs }: LimitWindow,
  now: number,
): number {
  const { burst } = priorities[priority];
  if (burst >= 1) return Number.POSITIVE_INFINITY;
  const taken = counters[takenOf(outer)] ?? 0;
  // A burst is of one request at least, however small the limit is.
  const atOnce = Math.max(1, capacity * burst) - countAfter(runs, now - windowMs) - taken;
  const since = at - paceMs;
  const evenly = (faster * (now - since)) / stepMs - countAfter(runs, since) - taken;
  return Math.floor(Math.max(atOnce, evenly));
}

/** How many of the row may be taken in all for now. */
function openAt(limit: LimitSchedule, { capacity }: LimitWindow, now: number): number {
  const due = Math.floor((now - limit.due) / limit.step) + 1;
  return Math.min(due, capacity - countAfter(limit.runs, now - limit.windowMs));
}

/** The part of the row from `taken` on whose times lie between `from` and `to`, and which the window holds. */
function reservable(
  limit: LimitSchedule,
  { capacity }: LimitWindow,
  taken: number,
  from: number,
  to: number,
) {
  const row = { from: limit.due, step: limit.step };
  const first = Math.max(0, Math.ceil((from - row.from) / row.step));
  if (taken < first) return undefined;
  let end = taken;
  while (end < taken + mostAhead) {
    const time = timeOf(row, end);
    if (time > to || end + countAfter(limit.runs, time - limit.windowMs) >= capacity) break;
    end++;
  }
  return end > taken ? { first, end } : undefined;
}

function floorLeft(limit: LimitSchedule, counters: Counters, draw: GrantRequest, sinceMs: number): number {
  const by = counters[takenBy(draw.limits[0], draw.priority)] ?? 0;
  return Math.floor(floorOf(limit, draw.priority, sinceMs) - by);
}

interface Narrow {
  readonly name: string;
  readonly room: number;
  readonly open: number;
}

function narrowAdditions(
  plan: Schedule,
  counters: Counters,
  names: readonly string[],
  now: number,
  figures: ReadonlyMap<string, LimitWindow>,
): readonly Narrow[] | undefined {
  if (now > plan.end) return undefined;
  const found: Narrow[] = [];
  for (const name of names) {
    const limit = plan.limits[name];
    const figure = figures.get(name);
    if (!limit || !figure) return undefined;
    const open = openAt(limit, figure, now);
    const room = open - (counters[takenOf(name)] ?? 0);
    if (room < 1) return undefined;
    found.push({ name, room, open });
  }
  return found;
}

function offer(
  mode: Grant['mode'],
  count: number,
  { limits: [outer], priority }: GrantRequest,
  bounds: Pick<Addition, 'min' | 'max'>,
  narrow: readonly Narrow[],
): Grant {
  const free = { by: count, min: 0, max: Number.MAX_SAFE_INTEGER };
  const additions: Addition[] = [
    { counter: takenOf(outer), by: count, ...bounds },
    { counter: takenBy(outer, priority), ...free },
  ];
  if (mode === 'now') additions.push({ counter: lateOf(outer), ...free });
  for (const { name, open } of narrow)
    additions.push(
      { counter: takenOf(name), ...free, max: open - count },
      { counter: lateOf(name), ...free },
    );
  return { mode, count, additions };
}

/** When it is worth asking again, and the earliest time of a permission, by a plan that offers nothing. */
export function whenToAsk(
  plan: Schedule,
  draw: GrantRequest,
  now: number,
  figures: ReadonlyMap<string, LimitWindow>,
): { readonly notBefore: number; readonly earliest: number } {
  const [outer, ...narrower] = draw.limits;
  const limit = plan.limits[outer];
  const figure = figures.get(outer);
  if (!limit || !figure) return { notBefore: now, earliest: now };
  const { aheadMs, leaves, floor } = priorities[draw.priority];
  const lacking = Math.max(0, 1 - withinPace(plan, limit, {}, draw, figure, now));
  const pacedAt = now + (lacking * figure.stepMs) / faster;
  let notBefore = Math.max(pacedAt, limit.due - aheadMs);
  let earliest = Math.max(pacedAt, limit.due);
  if (isHindered(limit, draw, {}, now)) {
    // What is due already counts towards what is left to the others.
    const afterOthers = Math.max(pacedAt, limit.due + Math.floor(figure.capacity * leaves) * limit.step);
    const byFloor = now + ((1 - limit.floors[draw.priority]) * limit.step) / floor;
    notBefore = Math.max(limit.closedUntil, Math.min(afterOthers, Math.max(now, byFloor)));
    earliest = notBefore;
  }
  for (const name of narrower)
    notBefore = Math.max(notBefore, narrowDue(plan.limits[name], figures.get(name), now));
  return { notBefore, earliest: Math.max(earliest, narrower.length > 0 ? notBefore : 0) };
}

function narrowDue(limit: LimitSchedule | undefined, figure: LimitWindow | undefined, now: number): number {
  return limit && figure ? Math.max(now, limit.due) : now;
}
