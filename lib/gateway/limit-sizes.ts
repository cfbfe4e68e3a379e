/** How the caches follow the limits that an operation counts against: quotas of callers, and the distance of refreshes. */

import { defaultSnapshotOptions, type SnapshotOptions } from '../cache/snapshots/ports.ts';
import { endpointCounterOf, endpointLimitsOf, limits } from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import { windowOf } from '../limiter/index.ts';
import type { LimitRules } from './operation-limits.ts';

interface LimitFigures {
  readonly requests: number;
  readonly perSeconds: number;
}

/** As a part of the limit of market data, of which all quotas are parts; never more than that. */
export const sizeOf = ({ requests, perSeconds }: LimitFigures) =>
  Math.min(1, (60 * requests) / perSeconds / limits['market-data'].requests);

/** The limits of which a caller has a quota, the narrowest first. */
export function quotaLimitsOf(
  operation: Operation,
  { upstreamLimits }: Pick<LimitRules, 'upstreamLimits'>,
): readonly { readonly name?: string; readonly size: number }[] {
  const endpoints = endpointLimitsOf(upstreamLimits);
  const endpoint = endpointCounterOf(operation, endpoints);
  const { limit } = operation;
  const instruments = endpoints.instruments ?? limits.instruments;
  return [
    ...(endpoint ? [{ name: endpoint.name, size: sizeOf(endpoint) }] : []),
    limit === 'instruments' ? { name: limit, size: sizeOf(instruments) } : { size: 1 },
  ];
}

type PaceOptions = Pick<SnapshotOptions, 'paceMs' | 'probesPerMinute' | 'forgivenPerMinute'>;

/** A little less than the distance at which the limiter grants permits. */
const paceFactor = 0.995;

/** Shared snapshots under an endpoint's own limit: refreshes as often as it allows, and probes in proportion. */
export function snapshotPaceOf(
  operation: Operation,
  { upstreamLimits }: Pick<LimitRules, 'upstreamLimits'>,
): Partial<PaceOptions> {
  const endpoint = endpointCounterOf(operation, endpointLimitsOf(upstreamLimits));
  if (!endpoint) return {};
  const usual: PaceOptions = defaultSnapshotOptions;
  const { stepMs } = windowOf({ ...endpoint, ...(operation.limit && { within: operation.limit }) });
  const paceMs = Math.floor(stepMs * paceFactor);
  if (paceMs <= usual.paceMs) return {};
  const scaled = (perMinute: number) => Math.max(1, Math.round((perMinute * usual.paceMs) / paceMs));
  return {
    paceMs,
    probesPerMinute: scaled(usual.probesPerMinute),
    forgivenPerMinute: scaled(usual.forgivenPerMinute),
  };
}
