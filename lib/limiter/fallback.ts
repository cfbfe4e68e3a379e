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

import type { Windows } from './limits.ts';

/** The part of each limit that instances may use while the store is unavailable. */
export interface ReserveOptions {
  /** M: the most instances that serve at one time, of all that share the limit. Enforced, not estimated. */
  readonly instances: number;
  /** The part of each limit that is reserved, from 0 to below 1. */
  readonly part: number;
}

/** Longest request: API Gateway ends one after 29 s, and a replaced instance still finishes its requests. */
const maxRequestMs = 30_000;

export class FallbackLimiter {
  readonly #windows: Windows;
  readonly #instances: number;
  readonly #startedAt: number;
  /** Times of the permits of each limit, in their order. */
  readonly #granted: ReadonlyMap<string, number[]>;

  /** @param startedAt when the instance started, by the clock that also gives `now` */
  constructor(windows: Windows, { instances }: ReserveOptions, startedAt: number) {
    this.#windows = windows;
    this.#instances = instances;
    this.#startedAt = startedAt;
    this.#granted = new Map([...windows.keys()].map((name) => [name, []]));
  }

  /** Takes one permit of each of the limits, or none. */
  take(limits: readonly string[], now: number): boolean {
    if (this.nextAt(limits, now) > now) return false;
    for (const name of limits) this.#granted.get(name)?.push(now);
    return true;
  }

  /** When the next permit comes, in milliseconds since the epoch; infinite where nothing is reserved. */
  nextAt(limits: readonly string[], now: number): number {
    return Math.max(now, ...limits.map((name) => this.#opensAt(name, now)));
  }

  /** When one permit of a limit may be taken. */
  #opensAt(name: string, now: number): number {
    const { reserve = 0, windowMs = 0 } = this.#windows.get(name) ?? {};
    const part = Math.floor(reserve / this.#instances);
    if (part < 1) return Number.POSITIVE_INFINITY;
    const times = this.#granted.get(name) ?? [];
    while (times.length > 0 && times[0]! <= now - windowMs) times.shift();
    const oldEnoughAt = this.#startedAt + windowMs + maxRequestMs;
    return Math.max(oldEnoughAt, times.length < part ? now : times[0]! + windowMs);
  }
}
