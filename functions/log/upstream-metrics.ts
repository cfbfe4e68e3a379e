/**
 * What the upstream refused or failed, and which stores throttle. Each metric is of the secret, which all functions of a
 * deployment share, because one alarm has to see all of them.
 */

import type { RefusalCode } from '../../lib/problem.ts';
import { embeddedMetrics } from './embedded-metrics.ts';

export const bySecret = 'Secret';

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
} as const satisfies Readonly<Record<string, readonly RefusalCode[]>>;

export type UpstreamMetric = keyof typeof counted;

/** @returns what a line has besides: nothing, unless one of the metrics counts its code */
export function upstreamCount(
  { code }: { readonly code?: RefusalCode },
  secretId: string,
  at: number,
): Readonly<Record<string, unknown>> {
  const [name] = Object.entries(counted).find(([, codes]) => codes.some((one) => one === code)) ?? [];
  return name === undefined ? {} : countOf(name, secretId, at);
}

/** One, of the secret. */
export const countOf = (name: string, secretId: string, at: number, count = 1) =>
  embeddedMetrics(
    { [name]: 'Count' as const },
    { dimensions: { [bySecret]: secretId }, at, values: { [name]: count } },
  );
