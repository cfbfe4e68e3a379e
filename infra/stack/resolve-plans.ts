/** Usage plans: what may be configured of them, and the figures that they have without. */

import * as v from 'valibot';
import { planOfTier, planTiers } from '../../lib/catalogue/index.ts';
import type { ResolvedPlan } from './config.ts';
import { name, number, oneOf, whole } from './schema-parts.ts';

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
