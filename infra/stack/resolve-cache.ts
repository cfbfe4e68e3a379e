/** What may be configured of the cache. */

import * as v from 'valibot';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/options.ts';
import { defined } from '../defined.ts';
import { ConfigError, type ResolvedConfig } from './config.ts';
import { whole } from './schema-parts.ts';

/** The refresh log goes back no further. */
const maxSeconds = 300;

const parts = v.strictObject({
  snapshots: v.optional(
    v.strictObject({
      staleAfterSeconds: v.optional(whole(1, maxSeconds)),
      expireAfterSeconds: v.optional(whole(1, maxSeconds)),
    }),
    {},
  ),
  clients: v.optional(
    v.strictObject({
      minMaxAgeSeconds: v.optional(whole(0, maxSeconds)),
      refreshesPerMinute: v.optional(whole(0, 300)),
    }),
    {},
  ),
  instances: v.optional(whole(1, 100_000)),
  networkPrefix: v.optional(
    v.strictObject({ ipv4: v.optional(whole(0, 32)), ipv6: v.optional(whole(0, 128)) }),
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
