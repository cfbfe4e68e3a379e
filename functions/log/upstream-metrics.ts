/** Answers of the upstream that alarms count: refused or failed ones. */

import type { RefusalCode } from '../../lib/problem.ts';
import { figuresOf, type MetricOf } from './metrics.ts';

/** By metric, the codes that count. */
const counted = {
  AccessTokenRefused: ['upstream_token_expired'],
  UpstreamRefused: ['upstream_auth_failed'],
  UpstreamFailed: [
    'upstream_unreachable',
    'upstream_timeout',
    'upstream_error',
    'upstream_broken_answer',
    'outcome_unknown',
  ],
} as const satisfies Readonly<Partial<Record<MetricOf<'Secret'>, readonly RefusalCode[]>>>;

/** @returns what a line has besides: nothing, unless one of the metrics counts its code */
export function upstreamCount(
  { code }: { readonly code?: RefusalCode },
  secretId: string,
  at: number,
): Readonly<Record<string, unknown>> {
  const [name] = Object.entries(counted).find(([, codes]) => codes.some((one) => one === code)) ?? [];
  return name === undefined ? {} : figuresOf('Secret', secretId, at, { [name]: 1 });
}
