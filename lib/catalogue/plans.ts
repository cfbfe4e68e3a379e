/**
 * Usage plans: a token bucket for each API key. Its figures keep one key within an upstream limit, or allow an app's
 * clients to read shared answers. The CDK stack and the local API Gateway use the same figures from here.
 */

import { limits, type RequestLimit } from './limits.ts';

/** Figures of API Gateway's token bucket. A bucket starts full. */
export interface UsagePlan {
  /** Tokens added each second; may be a fraction. */
  readonly ratePerSecond: number;
  /** Capacity of the bucket: number of requests that may arrive at once. */
  readonly burst: number;
}

/** Share of a limit that may be used at once; the bucket refills with the remaining share over the window. */
const burstShare = 1 / 5;

/**
 * Computes the plan under which one key stays within the limit in any window, wherever the window begins: a full bucket
 * and its refill during the window fit, so `burst + perSeconds · ratePerSecond ≤ requests`.
 *
 * @throws RangeError for a limit that leaves nothing to refill the bucket
 * @example
 * planWithin({ requests: 300, perSeconds: 60 }); // { ratePerSecond: 4, burst: 60 }
 */
export function planWithin({
  requests,
  perSeconds,
}: Pick<RequestLimit, 'requests' | 'perSeconds'>): UsagePlan {
  const burst = Math.max(1, Math.floor(requests * burstShare));
  // Whole thousandths, rounded down: short enough for a template, and never above the limit.
  const ratePerSecond = Math.floor(((requests - burst) * 1000) / perSeconds) / 1000;
  if (!(ratePerSecond > 0 && Number.isFinite(ratePerSecond))) {
    throw new RangeError(
      `No token bucket keeps within ${requests} requests in ${perSeconds} s: nothing would be left to refill it.`,
    );
  }
  return { ratePerSecond, burst };
}

/**
 * Purposes of plans. `upstream`: each request may cause one to the upstream, so a key has the upstream's limit. `app`:
 * clients read shared answers; their number does not change the number of requests to the upstream.
 */
export const planTiers = ['upstream', 'app'] as const;

export type PlanTier = (typeof planTiers)[number];

/** Ten thousand phones that read every five seconds, all under one key. */
const readsPerSecond = 10_000 / 5;

/** Factor above the steady rate, because phones do not poll evenly. */
export const headroom = 1.25;

/**
 * Plan of an app's key. With two seconds' tokens in the bucket, all ten thousand phones may arrive within three seconds, as
 * after a push message. Rate and burst stay below API Gateway's limits of an account, 10,000 a second and a burst of
 * 5,000, so that other keys still get through.
 *
 * The plan protects the AWS account and its bill, not the upstream: the limiter alone keeps the upstream's limit.
 */
export const appPlan: UsagePlan = { ratePerSecond: headroom * readsPerSecond, burst: 2 * readsPerSecond };

/**
 * Returns the plan of a tier.
 *
 * @param limit limit that a plan of the tier `upstream` keeps
 * @example
 * planOfTier('upstream'); // { ratePerSecond: 4, burst: 60 }
 */
export const planOfTier = (
  tier: PlanTier,
  limit: Pick<RequestLimit, 'requests' | 'perSeconds'> = limits['market-data'],
): UsagePlan => (tier === 'app' ? appPlan : planWithin(limit));
