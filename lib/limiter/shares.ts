/**
 * A user's share of a limit: the user gets another permit **while the user's permits are fewer than those left**. So the
 * next user finds room, and each of n users who take all they can has 1/(n + 1). A share has a log and a counter in the
 * limit's own item, so that one write takes a permit from both.
 */

import type { Windows } from './limits.ts';
import {
  baseOf,
  countAfter,
  hasAllShares,
  isShare,
  nthAfter,
  type PermitCounters,
  type ScheduleView,
  shareOf,
  takenCounter,
} from './schedule.ts';
import type { Addition } from './store.ts';

/** Part of the limit that one instance grants a user in a window before the user's share is counted. */
const uncountedPart = 1 / 128;

/** Room of a share or a narrower limit. */
export interface Room {
  readonly name: string;
  /** How many further permits a request may take. */
  readonly room: number;
  /** Permits left for all; under a narrower limit, those due, less those kept for more urgent requests. */
  readonly left: number;
}

function shareIn({ schedule: { limits }, windows }: ScheduleView, share: string) {
  const base = baseOf(share);
  return { base, own: limits[share], all: limits[base], window: windows.get(base) };
}

/** The room of a share; undefined where the share is not counted. */
export function roomOf(view: ScheduleView, name: string): Room | undefined {
  const { schedule, counters, now } = view;
  const { base, own, all, window } = shareIn(view, name);
  if (!all || !window) return undefined;
  if (!own) return hasAllShares(schedule.limits) ? undefined : { name, room: 0, left: 0 };
  const inWindow = (one: string, { log }: typeof own) =>
    countAfter(log, now - window.windowMs) + (counters[takenCounter(one)] ?? 0);
  const left = window.capacity - inWindow(base, all) - inWindow(name, own);
  // Each permit reduces the rest by one, and raises by one the rest that must be left.
  return { name, room: Math.floor((left + 1) / 2), left };
}

/**
 * The additions of a grant with that of a share. The bounds leave room for permits that others take before the write: of
 * the limit, and in another instance of the share, as many as the rule allows.
 */
export function withShare(
  additions: readonly Addition[],
  count: number,
  { name, left }: Pick<Room, 'name' | 'left'>,
  counters: PermitCounters,
): readonly Addition[] {
  const base = takenCounter(baseOf(name));
  const counter = takenCounter(name);
  const spare = left + 1 - 2 * count;
  const spareInShare = Math.floor(spare / 2);
  const baseMax = (counters[base] ?? 0) + spare - spareInShare;
  return [
    ...additions.map((one) => (one.counter === base ? { ...one, max: Math.min(one.max, baseMax) } : one)),
    { counter, by: count, min: 0, max: (counters[counter] ?? 0) + spareInShare },
  ];
}

/** Time at which the share has room again if no other permits are taken; for a schedule whose counters are zero. */
export function hasRoomAt(view: ScheduleView, share: string): number {
  const { own, all, window } = shareIn(view, share);
  if (!own || !all || !window) return view.now;
  const start = view.now - window.windowMs;
  const both = [...all.log, ...own.log];
  const leaving = 1 + countAfter(both, start) - window.capacity;
  const time = leaving > 0 ? nthAfter(both, start, leaving) : undefined;
  return time === undefined ? view.now : time + window.windowMs;
}

/**
 * One instance's recent grants to each user. A user with few requests has no entry in the item; with M instances, at most M
 * times the uncounted part is missing from a share.
 */
export class RecentGrants {
  readonly #windows: Windows;
  /** Latest grant times by share; shares are in the order of their last grant. */
  readonly #granted = new Map<string, readonly number[]>();

  constructor(windows: Windows) {
    this.#windows = windows;
  }

  /** Adds to the limits the user's shares that count. */
  withShares(
    limits: readonly [string, ...string[]],
    user: string | undefined,
    now: number,
  ): readonly [string, ...string[]] {
    if (user === undefined) return limits;
    const counted = limits.filter((limit) => {
      const start = now - this.#windowMsOf(limit);
      const recent = this.#granted.get(shareOf(limit, user))?.filter((time) => time > start) ?? [];
      return recent.length >= this.#uncountedOf(limit);
    });
    return [...limits, ...counted.map((limit) => shareOf(limit, user))];
  }

  note(limits: readonly string[], user: string | undefined, now: number): void {
    if (user === undefined) return;
    for (const [share, times] of this.#granted) {
      if ((times.at(-1) ?? 0) > now - this.#windowMsOf(baseOf(share))) break;
      this.#granted.delete(share);
    }
    for (const limit of limits) {
      const max = this.#uncountedOf(limit);
      if (isShare(limit) || max === 0) continue;
      const share = shareOf(limit, user);
      const times = [...(this.#granted.get(share) ?? []), now].slice(-max);
      this.#granted.delete(share);
      this.#granted.set(share, times);
    }
  }

  #windowMsOf(limit: string): number {
    return this.#windows.get(limit)?.windowMs ?? 0;
  }

  #uncountedOf(limit: string): number {
    return Math.floor((this.#windows.get(limit)?.capacity ?? 0) * uncountedPart);
  }
}
