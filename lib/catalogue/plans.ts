/**
 * Usage plans: a token bucket per API key, with figures that keep one key within an upstream limit. The CDK
 * stack and the local API Gateway take the same figures from here.
 */

import type { RequestLimit } from './limits.ts';

/** The two figures of API Gateway's token bucket. A bucket starts full. */
export interface UsagePlan {
  /** Tokens that come back each second; may be a fraction. */
  readonly ratePerSecond: number;
  /** The capacity of the bucket: how many requests may come at once. */
  readonly burst: number;
}

/** How much of a limit may come at once; the rest comes back evenly over the window. */
const burstShare = 1 / 5;

/**
 * The plan under which one key stays within the limit in any window, wherever the window begins: a full
 * bucket and all that refills in the meantime fit, so `burst + perSeconds · ratePerSecond ≤ requests`.
 */
export function planWithin({
  requests,
  perSeconds,
}: Pick<RequestLimit, 'requests' | 'perSeconds'>): UsagePlan {
  const burst = Math.max(1, Math.floor(requests * burstShare));
  // Whole thousandths, rounded down: a figure that a template shows as it is, and never above the limit.
  const ratePerSecond = Math.floor(((requests - burst) * 1000) / perSeconds) / 1000;
  if (!(ratePerSecond > 0 && Number.isFinite(ratePerSecond))) {
    throw new RangeError(
      `No token bucket keeps within ${requests} requests in ${perSeconds} s: nothing would be left to refill it.`,
    );
  }
  return { ratePerSecond, burst };
}
