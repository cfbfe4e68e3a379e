/**
 * The metric of access tokens that the upstream refuses. Of the secret, because one alarm has to see all functions: the
 * check on a schedule may find the same hours later.
 */

import type { RequestReport } from '../../lib/gateway/index.ts';
import { embeddedMetrics } from './embedded-metrics.ts';

export const tokenMetric = { name: 'AccessTokenRefused', dimension: 'Secret' } as const;

/** @returns what the request's log line has besides: nothing, unless the upstream refused the token */
export const tokenRefusal = (
  { code }: Pick<RequestReport, 'code'>,
  secretId: string,
  at: number,
): Readonly<Record<string, unknown>> =>
  code === 'upstream_token_expired'
    ? embeddedMetrics(
        { [tokenMetric.name]: 'Count' },
        { dimensions: { [tokenMetric.dimension]: secretId }, at, values: { [tokenMetric.name]: 1 } },
      )
    : {};
