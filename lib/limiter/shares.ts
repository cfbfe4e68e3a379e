/**
 * What one user may have of a limit that all share: another permit **while he has fewer than are left**. So whoever comes
 * next finds room, and of n users who take all they can each has 1/(n + 1). A share has a log and a counter in the limit's
 * own item, so that one write takes both.
 */

import type { LimitWindow } from './options.ts';
import {
  baseOf,
  type Counters,
  countAfter,
  hasAllShares,
  isShare,
  nthAfter,
  type Schedule,
  shareOf,
  takenCounter,
} from './schedule.ts';
import type { Addition } from './store.ts';

/** A user counts from so many permits on that one instance granted in a window, as a part of the limit. */
const uncountedPart = 1 / 128;

type Windows = ReadonlyMap<string, LimitWindow>;

/** How many more permits a share has room for, and how many are left beside it; undefined where it is not counted. */
export function roomOf(
  schedule: Schedule,
  counters: Counters,
  share: string,
  windows: Windows,
  now: number,
): { readonly room: number; readonly left: number } | undefined {
  const base = baseOf(share);
  const [own, all, window] = [schedule.limits[share], schedule.limits[base], windows.get(base)];
  if (!all || !window) return undefined;
  if (!own) return hasAllShares(schedule.limits) ? undefined : { room: 0, left: 0 };
  const inWindow = (name: string, { log }: typeof own) =>
    countAfter(log, now - window.windowMs) + (counters[takenCounter(name)] ?? 0);
  const left = window.capacity - inWindow(base, all) - inWindow(share, own);
  // Each permit takes one of what is left, and adds one to what has to be left.
  return { room: Math.floor((left + 1) / 2), left };
}

/**
 * The grant that counts for the shares, too. Others may take some before the write does, of the limit and, in another
 * instance, of the share: as many as the rule has room for with them.
 */
export function withShares<G extends { readonly count: number; readonly additions: readonly Addition[] }>(
  grant: G,
  shares: readonly { readonly name: string; readonly left: number }[],
  counters: Counters,
): G {
  const { count } = grant;
  let additions = grant.additions;
  for (const { name, left } of shares) {
    const base = takenCounter(baseOf(name));
    const counter = takenCounter(name);
    const spare = left + 1 - 2 * count;
    const ofOwn = Math.floor(spare / 2);
    const baseMax = (counters[base] ?? 0) + spare - ofOwn;
    additions = [
      ...additions.map((one) => (one.counter === base ? { ...one, max: Math.min(one.max, baseMax) } : one)),
      { counter, by: count, min: 0, max: (counters[counter] ?? 0) + ofOwn },
    ];
  }
  return { ...grant, additions };
}

/** When the share has room again, if others take no more; for a schedule whose counters are zero. */
export function hasRoomAt(schedule: Schedule, share: string, windows: Windows, now: number): number {
  const base = baseOf(share);
  const [own, all, window] = [schedule.limits[share], schedule.limits[base], windows.get(base)];
  if (!own || !all || !window) return now;
  const start = now - window.windowMs;
  const both = [...all.log, ...own.log];
  const leaving = 1 + countAfter(both, start) - window.capacity;
  const time = leaving > 0 ? nthAfter(both, start, leaving) : undefined;
  return time === undefined ? now : time + window.windowMs;
}

/**
 * What one instance has granted to each user of late. A user with few requests costs the item nothing; with M instances at
 * most M times the uncounted part is missing from a share.
 */
export class UsersOfLate {
  readonly #windows: Windows;
  /** The latest times, in the order of the last one. */
  readonly #granted = new Map<string, readonly number[]>();

  constructor(windows: Windows) {
    this.#windows = windows;
  }

  /** The limits with the user's shares of them, where they count. */
  withShares(
    limits: readonly [string, ...string[]],
    user: string | undefined,
    now: number,
  ): readonly [string, ...string[]] {
    if (user === undefined) return limits;
    const counted = limits.filter((limit) => {
      const { windowMs = 0 } = this.#windows.get(limit) ?? {};
      const late = this.#granted.get(shareOf(limit, user))?.filter((time) => time > now - windowMs) ?? [];
      return late.length >= this.#uncountedOf(limit);
    });
    return [...limits, ...counted.map((limit) => shareOf(limit, user))];
  }

  note(limits: readonly string[], user: string | undefined, now: number): void {
    if (user === undefined) return;
    for (const [share, times] of this.#granted) {
      if ((times.at(-1) ?? 0) > now - (this.#windows.get(baseOf(share))?.windowMs ?? 0)) break;
      this.#granted.delete(share);
    }
    for (const limit of limits) {
      const most = this.#uncountedOf(limit);
      if (isShare(limit) || most === 0) continue;
      const share = shareOf(limit, user);
      const times = [...(this.#granted.get(share) ?? []), now].slice(-most);
      this.#granted.delete(share);
      this.#granted.set(share, times);
    }
  }

  #uncountedOf(limit: string): number {
    return Math.floor((this.#windows.get(limit)?.capacity ?? 0) * uncountedPart);
  }
}
