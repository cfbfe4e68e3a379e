/**
 * Usage plans: a token bucket per API key, with figures that keep one key within an upstream limit, or let an
 * app's clients read answers that they share. The CDK stack and the local API Gateway take the same figures
 * from here.
 */

import { limits, type RequestLimit } from './limits.ts';

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

/**
 * What a plan is for. `upstream`: each request may become one to the upstream, so a key has what the limit has.
 * `app`: clients read what is shared; the upstream is asked as often as it is, however many they are.
 */
export const planTiers = ['upstream', 'app'] as const;

export type PlanTier = (typeof planTiers)[number];

/** Ten thousand phones that read every five seconds, all under one key. */
const readsPerSecond = 10_000 / 5;

/** A quarter above the steady rate, because phones do not come evenly. */
export const headroom = 1.25;

/**
 * With two seconds' worth in the bucket, all ten thousand may come at once within three seconds, as after a push
 * message. Both stay below what API Gateway gives an account, 10,000 a second and a burst of 5,000, so that another
 * key still gets through.
 *
 * It protects the account and its bill, not the upstream: whatever clients do, the budget alone holds that limit.
 */
export const appPlan: UsagePlan = { ratePerSecond: headroom * readsPerSecond, burst: 2 * readsPerSecond };

/** @param limit the one that a plan of the tier `upstream` keeps within */
export const planOfTier = (
  tier: PlanTier,
  limit: Pick<RequestLimit, 'requests' | 'perSeconds'> = limits['market-data'],
): UsagePlan => (tier === 'app' ? appPlan : planWithin(limit));
