/** Usage plan: finds API keys, and throttles each with a token bucket as API Gateway does. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { UsagePlan } from '../../lib/catalogue/plans.ts';

type PlanAdmission =
  | { readonly allowed: true }
  /** Milliseconds until there is a token again, if no other request comes. */
  | { readonly allowed: false; readonly retryAfterMs: number };

interface UsageMeter {
  /**
   * Takes one token of the key's bucket, if there is one. A refused request takes nothing. A bucket is kept for each
   * key: callers must pass ids of known keys only, never a client's text.
   */
  take(key: string): PlanAdmission;
}

interface Bucket {
  /** Thousandths of a token: with a whole rate and a clock in whole milliseconds all sums are exact. */
  level: number;
  /** Clock reading at the last refill. */
  at: number;
}

const tokenUnits = 1000;

/** Creates the buckets. `clock` reads milliseconds. */
export function createUsagePlan({
  ratePerSecond,
  burst,
  clock = Date.now,
}: UsagePlan & { readonly clock?: () => number }): UsageMeter {
  if (!(ratePerSecond > 0 && Number.isFinite(ratePerSecond) && Number.isInteger(burst) && burst >= 1)) {
    throw new RangeError('A usage plan needs a rate above 0 and a whole burst of at least 1.');
  }
  const capacity = burst * tokenUnits;
  const buckets = new Map<string, Bucket>();

  function refilled(key: string): Bucket {
    const now = clock();
    const bucket = buckets.get(key) ?? { level: capacity, at: now };
    // A wall clock may be set back: that refills nothing, and must not stop the refill until the clock catches up.
    const elapsed = Math.max(0, now - bucket.at);
    bucket.level = Math.min(capacity, bucket.level + elapsed * ratePerSecond);
    bucket.at = now;
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    take(key) {
      const bucket = refilled(key);
      if (bucket.level < tokenUnits) {
        return { allowed: false, retryAfterMs: Math.ceil((tokenUnits - bucket.level) / ratePerSecond) };
      }
      bucket.level -= tokenUnits;
      return { allowed: true };
    },
  };
}

export interface ApiKey {
  /** Name of the key in logs; not secret. */
  readonly id: string;
  readonly value: string;
}

/** Creates a function that finds the key a client sent, in a time that reveals nothing about the keys. */
export function apiKeyFinder(apiKeys: readonly ApiKey[]): (sent: string) => ApiKey | undefined {
  if (apiKeys.some((key) => key.value === '')) throw new RangeError('An API key must not be empty.');
  const known = apiKeys.map((key) => ({ key, digest: digestOf(key.value) }));
  return (sent) => {
    const digest = digestOf(sent);
    // Digests have one length, and every key is compared, so neither length nor position shows.
    return known.filter((candidate) => timingSafeEqual(candidate.digest, digest))[0]?.key;
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
