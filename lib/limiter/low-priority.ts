/**
 * A limiter for requests that can wait. The limiter's own priorities prefer urgent requests that wait at the same time,
 * but permits of an earlier burst are gone for the rest of the window. So low-priority requests take permits freely only
 * while many are left, and below a reserve one at a time, with a pause after each.
 */

import { steadyClock } from '../kernel/age.ts';
import type { Limiter, LimiterReport } from './index.ts';

export interface LowPriorityOptions {
  /**
   * How many permits of a wide limit are left to others, as far as this instance knows; for a narrower limit it is half of
   * the window's permits.
   */
  readonly reserve: number;
  /** The pause after a permit below the reserve; 30 seconds at most. */
  readonly pauseMs: number;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface LowPriorityLimiter {
  /** Must receive every report of the limiter. */
  observe(report: LimiterReport): void;
  /** Asks the given limiter, except during a pause. */
  wrap(limiter: Limiter): Limiter;
}

/** Longest pause, whatever the number of instances: a lookup without a deadline has only five minutes. */
const maxPauseMs = 30_000;

/**
 * @example
 * const lowPriority = createLowPriorityLimiter({ reserve: 150, pauseMs: 1000 });
 * const limiter = createLimiter({ store, limits, bucket: 'production', report: lowPriority.observe });
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets, limiter: lowPriority.wrap(limiter) });
 */
export function createLowPriorityLimiter({
  reserve,
  pauseMs,
  clock: wall = Date.now,
}: LowPriorityOptions): LowPriorityLimiter {
  const clock = steadyClock(wall);
  /** End of the pause by limit. */
  const notBefore = new Map<string, number>();
  function note(limit: string, isShort: boolean): void {
    if (isShort) notBefore.set(limit, clock() + Math.min(pauseMs, maxPauseMs));
    else notBefore.delete(limit);
  }
  return {
    observe(report) {
      if (report.kind !== 'granted') return;
      const { limit, remaining, narrowest } = report;
      note(limit, remaining < reserve);
      if (narrowest) note(narrowest.limit, narrowest.remaining < narrowest.capacity / 2);
    },
    wrap: (limiter) => ({
      async acquire(call) {
        const pausing = call.limits.find((name) => (notBefore.get(name) ?? 0) > clock());
        if (call.priority !== 'events' || pausing === undefined) return limiter.acquire(call);
        const retryAfterMs = (notBefore.get(pausing) ?? 0) - clock();
        return { ok: false, reason: 'exhausted', retryAfterMs, usedUp: pausing };
      },
      block: (...block) => limiter.block(...block),
      used: (...asked) => limiter.used(...asked),
    }),
  };
}
