/** Derives the caches' quotas for callers and the pace of refreshes from the limits that an operation counts against. */

import { defaultSnapshotOptions, type SnapshotOptions } from '../cache/snapshots/ports.ts';
import { endpointCounterOf, endpointLimitsOf, limits } from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import { windowOf } from '../limiter/index.ts';
import type { LimitRules } from './operation-limits.ts';

interface LimitFigures {
  readonly requests: number;
  readonly perSeconds: number;
}

/** Size of a limit as a part, at most 1, of the market-data limit, from which all quotas are computed. */
export const sizeOf = ({ requests, perSeconds }: LimitFigures) =>
  Math.min(1, (60 * requests) / perSeconds / limits['market-data'].requests);

/** Limits that callers have quotas for, the narrowest first. */
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

/** Factor that makes the pace of refreshes a little shorter than the interval at which the limiter grants permits. */
const paceFactor = 0.995;

/** Options of the snapshot cache under an endpoint's own limit: refreshes as often as it allows, probes in proportion. */
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
