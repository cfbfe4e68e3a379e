/**
 * A budget for whoever can wait. The budget itself lets the more urgent go first while they ask; but what was
 * taken in a burst a moment before they ask is gone for the rest of the window. So lookups take freely while
 * much is left, and below a reserve only now and then.
 */

import type { Limiter, LimiterReport } from '../limiter/index.ts';

export interface LowPriorityOptions {
  /** So many permissions of the widest limit are left to others, as far as can be known. */
  readonly reserve: number;
  /** Below the reserve one permission is taken, and then none for so long, 30 seconds at most. */
  readonly pauseMs: number;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface LowPriorityLimiter {
  /** To be told what the budget reports. */
  hear(report: LimiterReport): void;
  /** Asks the budget, unless it is time to leave something to others. */
  around(budget: Limiter): Limiter;
}

/** However many take turns: a lookup that names no deadline has five minutes. */
const longestPauseMs = 30_000;

export function createLowPriorityLimiter({
  reserve,
  pauseMs,
  clock = Date.now,
}: LowPriorityOptions): LowPriorityLimiter {
  let notBefore = Number.NEGATIVE_INFINITY;
  return {
    hear(report) {
      if (report.kind === 'granted')
        notBefore =
          report.remaining < reserve ? clock() + Math.min(pauseMs, longestPauseMs) : Number.NEGATIVE_INFINITY;
    },
    around: (budget) => ({
      async acquire(call) {
        const retryAfterMs = notBefore - clock();
        if (call.priority !== 'events' || retryAfterMs <= 0) return budget.acquire(call);
        return { ok: false, reason: 'exhausted', retryAfterMs };
      },
      block: (...given) => budget.block(...given),
    }),
  };
}
