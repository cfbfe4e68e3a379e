/**
 * What one instance may use when it cannot reach the store: a part of each limit that is set aside and never
 * in the store, divided by M, the most instances that serve at one time. Nothing is set aside by default, and
 * then nothing is sent without the store.
 *
 * No window holds more than is set aside, whatever fails and for however many instances, **if never more than
 * M instances serve at one time** and none serves a request for longer than `longestRequestMs`. An instance
 * uses its share only when it is older than a window and a request. So of all that use it within one window
 * each had started, and none had been replaced, a request's time before that window began: M at most, each
 * with its share once.
 */

import type { LimitWindow } from './options.ts';

export interface ReserveOptions {
  /** M: the most instances that serve at one time, of all that share the limit. Enforced, not estimated. */
  readonly instances: number;
  /** The part of each limit that is set aside, from 0 to below 1. */
  readonly part: number;
}

export interface FallbackLimiter {
  /** Takes one from each of the limits, or none. */
  take(limits: readonly string[], now: number): boolean;
  /** When the next one comes; infinite where there is no share. */
  nextAt(limits: readonly string[], now: number): number;
}

/** API Gateway ends a request after 29 s, and an instance that is being replaced ends those it has. */
const longestRequestMs = 30_000;

/** @param startedAt when the instance started, by the clock that also tells `now` */
export function createFallbackLimiter(
  figures: ReadonlyMap<string, LimitWindow>,
  { instances }: ReserveOptions,
  startedAt: number,
): FallbackLimiter {
  const given = new Map<string, number[]>([...figures.keys()].map((name) => [name, []]));

  /** When one may be taken of a limit. */
  function openAt(name: string, now: number): number {
    const figure = figures.get(name);
    const share = figure ? Math.floor(figure.reserve / instances) : 0;
    if (!figure || share < 1) return Number.POSITIVE_INFINITY;
    const times = given.get(name) ?? [];
    while (times.length > 0 && times[0]! <= now - figure.windowMs) times.shift();
    const oldEnough = startedAt + figure.windowMs + longestRequestMs;
    return Math.max(oldEnough, times.length < share ? now : times[0]! + figure.windowMs);
  }

  const nextAt: FallbackLimiter['nextAt'] = (limits, now) =>
    Math.max(now, ...limits.map((name) => openAt(name, now)));

  return {
    nextAt,
    take(limits, now) {
      if (nextAt(limits, now) > now) return false;
      for (const name of limits) given.get(name)?.push(now);
      return true;
    },
  };
}
