/** What may be configured of the cache. */

import * as v from 'valibot';
import * as ranges from '../../functions/settings/ranges.ts';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/ports.ts';
import { defined } from '../defined.ts';
import { ConfigError, type ResolvedConfig } from './config.ts';
import { whole } from './schema-parts.ts';

const parts = v.strictObject({
  snapshots: v.optional(
    v.strictObject({
      staleAfterSeconds: v.optional(whole(...ranges.snapshotSeconds)),
      expireAfterSeconds: v.optional(whole(...ranges.snapshotSeconds)),
    }),
    {},
  ),
  clients: v.optional(
    v.strictObject({
      minMaxAgeSeconds: v.optional(whole(...ranges.minMaxAgeSeconds)),
      refreshesPerMinute: v.optional(whole(...ranges.refreshesPerMinute)),
    }),
    {},
  ),
  instances: v.optional(whole(...ranges.instances)),
  networkPrefix: v.optional(
    v.strictObject({
      ipv4: v.optional(whole(...ranges.ipv4Bits)),
      ipv6: v.optional(whole(...ranges.ipv6Bits)),
    }),
  ),
});

/** Chosen by what is given: of a union's two faults none would name the property. */
export const cacheSchema = v.lazy((given) =>
  typeof given === 'object' && given !== null ? parts : v.literal('off', 'takes off, or an object'),
);

/** @throws ConfigError in one sentence that names the property */
export function resolveCache(given: v.InferOutput<typeof cacheSchema>): ResolvedConfig['cache'] {
  if (given === 'off') return 'off';
  const { staleAfterMs, expireAfterMs } = defaultSnapshotOptions;
  const {
    staleAfterSeconds: staleAfter = staleAfterMs / 1000,
    expireAfterSeconds: expireAfter = expireAfterMs / 1000,
  } = given.snapshots;
  if (staleAfter > expireAfter)
    throw new ConfigError(
      `cache.snapshots.staleAfterSeconds (${staleAfter}) must not be more than cache.snapshots.expireAfterSeconds (${expireAfter}), beyond which nothing is served.`,
    );
  return {
    snapshots: defined(given.snapshots),
    clients: defined(given.clients),
    ...defined({
      instances: given.instances,
      networkPrefix: given.networkPrefix && defined(given.networkPrefix),
    }),
  };
}
