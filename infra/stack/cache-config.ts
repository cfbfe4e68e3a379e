/** The cache: what a deployer may configure, and what functions take of it. */

import * as v from 'valibot';
import type { CacheSettings } from '../../functions/settings/parts.ts';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/ports.ts';
import { defaultNetworkPrefix } from '../../lib/identity/caller.ts';
import { defined } from '../defined.ts';
import { ConfigError, instanceCount, whole } from './schema-parts.ts';

export interface CacheConfig {
  readonly snapshots?: {
    /** An older snapshot is served only if there is no newer one, and is marked as stale. Default 30. */
    readonly staleAfterSeconds?: number;
    /** An older snapshot is not served. Default 300, which is the maximum. */
    readonly expireAfterSeconds?: number;
  };
  /** What one client may ask for beyond what all have. */
  readonly clients?: {
    /** A smaller `max-age` counts as this one. Default 1. */
    readonly minMaxAgeSeconds?: number;
    /** How often one caller may cause a request to the upstream by `max-age` or `no-cache`. Default 20. */
    readonly refreshesPerMinute?: number;
  };
  /**
   * Instances that may serve shared snapshots at the same time: Lambda's concurrency of the account, or what is
   * reserved for the group. By it a function decides how many requests may wait. Default 1,000; a new account has 10.
   */
  readonly instances?: number;
  /**
   * Bits of a client's address that name its network: requests of one key and network are shared out as one caller's.
   * Default 24 and 56; 0 leaves the key alone.
   */
  readonly networkPrefix?: { readonly ipv4?: number; readonly ipv6?: number };
}

/** The refresh log goes back no further. */
const maxSnapshotSeconds = 300;

const parts = v.strictObject({
  snapshots: v.optional(
    v.strictObject({
      staleAfterSeconds: v.optional(whole(1, maxSnapshotSeconds)),
      expireAfterSeconds: v.optional(whole(1, maxSnapshotSeconds)),
    }),
    {},
  ),
  clients: v.optional(
    v.strictObject({
      minMaxAgeSeconds: v.optional(whole(0, maxSnapshotSeconds)),
      refreshesPerMinute: v.optional(whole(0, 300)),
    }),
    {},
  ),
  instances: v.optional(instanceCount),
  networkPrefix: v.optional(
    v.strictObject({
      ipv4: v.optional(whole(0, 32), defaultNetworkPrefix.ipv4),
      ipv6: v.optional(whole(0, 128), defaultNetworkPrefix.ipv6),
    }),
    {},
  ),
});

/** Chosen by what is given: of a union's two faults none would name the property. */
export const cacheSchema = v.lazy((given) =>
  typeof given === 'object' && given !== null ? parts : v.literal('off', 'takes off, or an object'),
);

export type ResolvedCache = Pick<CacheSettings, 'tuning' | 'networkPrefix'>;

/** @throws ConfigError in one sentence that names the property */
export function resolveCache(given: v.InferOutput<typeof cacheSchema>): 'off' | ResolvedCache {
  if (given === 'off') return 'off';
  const { snapshots, clients, instances, networkPrefix } = given;
  const tuning = defined({
    staleAfterMs: inMs(snapshots.staleAfterSeconds),
    expireAfterMs: inMs(snapshots.expireAfterSeconds),
    minMaxAgeMs: inMs(clients.minMaxAgeSeconds),
    refreshesPerMinute: clients.refreshesPerMinute,
    instances,
  });
  const { staleAfterMs, expireAfterMs } = { ...defaultSnapshotOptions, ...tuning };
  if (staleAfterMs > expireAfterMs)
    throw new ConfigError(
      `cache.snapshots.staleAfterSeconds (${staleAfterMs / 1000}) must not be more than cache.snapshots.expireAfterSeconds (${expireAfterMs / 1000}), beyond which nothing is served.`,
    );
  return { tuning, networkPrefix };
}

const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
