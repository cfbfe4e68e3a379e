/** Usage plans: what may be configured of them, and the figures that they have without. */

import * as v from 'valibot';
import { type PlanTier, planOfTier, planTiers, type UsagePlan } from '../../lib/catalogue/index.ts';
import { name, number, oneOf, whole } from './schema-parts.ts';

export interface PlanConfig {
  /**
   * `upstream`, the default, keeps one key within the upstream's market-data limit; `app` is for many clients
   * under one key that read cached responses. In place of figures.
   */
  readonly tier?: PlanTier;
  /** Tokens that come back each second; together with `burst`, in place of `tier`. */
  readonly ratePerSecond?: number;
  /** How many requests may come at once; together with `ratePerSecond`. */
  readonly burst?: number;
  readonly quota?: { readonly requests: number; readonly per: 'day' | 'week' | 'month' };
  /** A name for each API key; API Gateway makes their values. Default one key, `default`. */
  readonly keys?: readonly string[];
}

export interface ResolvedPlan extends UsagePlan {
  readonly name: string;
  readonly quota?: PlanConfig['quota'];
  readonly keys: readonly string[];
}

const plan = v.pipe(
  v.strictObject({
    tier: v.optional(oneOf(...planTiers)),
    ratePerSecond: v.optional(
      number({ words: 'a number above 0', has: (rate) => Number.isFinite(rate) && rate > 0 }),
    ),
    burst: v.optional(whole(1, 1_000_000)),
    quota: v.optional(
      v.strictObject({ requests: whole(1, 1_000_000_000), per: oneOf('day', 'week', 'month') }),
    ),
    keys: v.optional(
      v.pipe(
        v.array(name),
        v.minLength(1, 'takes at least one key'),
        v.check((keys) => new Set(keys).size === keys.length, 'has the same key twice'),
      ),
    ),
  }),
  v.check(
    ({ ratePerSecond, burst }) => (ratePerSecond === undefined) === (burst === undefined),
    'takes ratePerSecond and burst together, or neither',
  ),
  v.check(
    ({ tier, burst }) => tier === undefined || burst === undefined,
    'takes a tier or figures of its own, not both',
  ),
);

/** By name. */
export const plansSchema = v.record(name, plan);

export function resolvePlan([planName, given]: readonly [string, v.InferOutput<typeof plan>]): ResolvedPlan {
  const { tier = 'upstream', ratePerSecond, burst, quota, keys } = given;
  return {
    name: planName,
    ...(ratePerSecond !== undefined && burst !== undefined ? { ratePerSecond, burst } : planOfTier(tier)),
    ...(quota && { quota }),
    keys: keys ?? ['default'],
  };
}
