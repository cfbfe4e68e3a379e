/**
 * Usage plans: a token bucket per API key. Its figures keep one key within an upstream limit, or allow an app's
 * clients to read shared answers. The CDK stack and the local API Gateway take the same figures from here.
 */

import { limits, type RequestLimit } from './limits.ts';

/** The two figures of API Gateway's token bucket. A bucket starts full. */
export interface UsagePlan {
  /** Tokens added each second; may be a fraction. */
  readonly ratePerSecond: number;
  /** The capacity of the bucket: how many requests may arrive at once. */
  readonly burst: number;
}

/** The share of a limit that may be used at once; the bucket refills with the remaining share over the window. */
const burstShare = 1 / 5;

/**
 * The plan under which one key stays within the limit in any window, wherever the window begins: a full
 * bucket and all that refills in the meantime fit, so `burst + perSeconds · ratePerSecond ≤ requests`.
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
 * The purpose of a plan. `upstream`: each request may become one to the upstream, so a key has the upstream's limit.
 * `app`: clients read shared answers; their number does not change how often the upstream is requested.
 */
export const planTiers = ['upstream', 'app'] as const;

export type PlanTier = (typeof planTiers)[number];

/** Ten thousand phones that read every five seconds, all under one key. */
const readsPerSecond = 10_000 / 5;

/** A quarter above the steady rate, because phones do not poll evenly. */
export const headroom = 1.25;

/**
 * With two seconds' tokens in the bucket, all ten thousand may arrive within three seconds, as after a push
 * message. Both stay below what API Gateway gives an account, 10,000 a second and a burst of 5,000, so that another
 * key still gets through.
 *
 * The plan protects the AWS account and its bill, not the upstream: the limiter alone keeps the upstream's limit.
 */
export const appPlan: UsagePlan = { ratePerSecond: headroom * readsPerSecond, burst: 2 * readsPerSecond };

/**
 * The figures of a tier.
 *
 * @param limit the one that a plan of the tier `upstream` keeps within
 * @example
 * planOfTier('upstream'); // { ratePerSecond: 4, burst: 60 }
 */
export const planOfTier = (
  tier: PlanTier,
  limit: Pick<RequestLimit, 'requests' | 'perSeconds'> = limits['market-data'],
): UsagePlan => (tier === 'app' ? appPlan : planWithin(limit));
