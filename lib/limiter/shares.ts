/**
 * A user's share of a limit: the user gets another permit **while the user's permits are fewer than those left**. So the
 * next user finds room, and each of n users who take all they can has 1/(n + 1). A share has a log and a counter in the
 * limit's own item, so that one write takes a permit from both.
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

/** Part of the limit that one instance grants a user in a window before the user's share is counted. */
const uncountedPart = 1 / 128;

type Windows = ReadonlyMap<string, LimitWindow>;

/** Number of further permits in a share, and of permits left for all; undefined where the share is not counted. */
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
  // Each permit reduces the rest by one, and raises by one the rest that must be left.
  return { room: Math.floor((left + 1) / 2), left };
}

/**
 * The grant with the additions for shares. Their bounds leave room for permits that others take before the write: of the
 * limit, and in another instance of the share, as many as the rule allows.
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

/** Time at which the share has room again if no other permits are taken; for a schedule whose counters are zero. */
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
 * One instance's recent grants to each user. A user with few requests has no entry in the item; with M instances, at most M
 * times the uncounted part is missing from a share.
 */
export class UsersOfLate {
  readonly #windows: Windows;
  /** Latest grant times of each user; users are in the order of their last grant. */
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
