/**
 * The fallback of one instance while it cannot reach the store: a reserved part of each limit that is never in the store,
 * divided by M, the most instances that serve at one time. By default nothing is reserved, and nothing is sent without
 * the store.
 *
 * No window holds more than the reserve, whatever fails and for however many instances, **if never more than M
 * instances serve at one time** and none serves a request for longer than `maxRequestMs`. An instance uses its
 * part of the reserve only when it is older than a window and a request. So each instance that uses it within
 * one window had started, and none had been replaced, a request's time before that window began: they are M
 * at most, and each uses its part once.
 */

import type { LimitWindow } from './options.ts';

/** The part of each limit that instances may use while the store is unavailable. */
export interface ReserveOptions {
  /** M: the most instances that serve at one time, of all that share the limit. Enforced, not estimated. */
  readonly instances: number;
  /** The part of each limit that is reserved, from 0 to below 1. */
  readonly part: number;
}

export interface FallbackLimiter {
  /** Takes one permit of each of the limits, or none. */
  take(limits: readonly string[], now: number): boolean;
  /** When the next permit comes, in milliseconds since the epoch; infinite where nothing is reserved. */
  nextAt(limits: readonly string[], now: number): number;
}

/** Longest request: API Gateway ends one after 29 s, and a replaced instance still finishes its requests. */
const maxRequestMs = 30_000;

/** @param startedAt when the instance started, by the clock that also gives `now` */
export function createFallbackLimiter(
  windows: ReadonlyMap<string, LimitWindow>,
  { instances }: ReserveOptions,
  startedAt: number,
): FallbackLimiter {
  const granted = new Map<string, number[]>([...windows.keys()].map((name) => [name, []]));

  /** When one permit of a limit may be taken. */
  function opensAt(name: string, now: number): number {
    const window = windows.get(name);
    const part = window ? Math.floor(window.reserve / instances) : 0;
    if (!window || part < 1) return Number.POSITIVE_INFINITY;
    const times = granted.get(name) ?? [];
    while (times.length > 0 && times[0]! <= now - window.windowMs) times.shift();
    const oldEnoughAt = startedAt + window.windowMs + maxRequestMs;
    return Math.max(oldEnoughAt, times.length < part ? now : times[0]! + window.windowMs);
  }

  const nextAt: FallbackLimiter['nextAt'] = (limits, now) =>
    Math.max(now, ...limits.map((name) => opensAt(name, now)));

  return {
    nextAt,
    take(limits, now) {
      if (nextAt(limits, now) > now) return false;
      for (const name of limits) granted.get(name)?.push(now);
      return true;
    },
  };
}
