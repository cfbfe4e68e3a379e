/** Answers that clients share: what may be configured of them. */

import * as v from 'valibot';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/options.ts';
import { ConfigError, type ResolvedConfig } from './config.ts';
import { whole } from './schema-parts.ts';

/** The journal of quotes goes back no further. */
const longestSeconds = 300;

const parts = v.strictObject({
  quotes: v.optional(
    v.strictObject({
      staleAfterSeconds: v.optional(whole(1, longestSeconds)),
      uselessAfterSeconds: v.optional(whole(1, longestSeconds)),
    }),
    {},
  ),
  clients: v.optional(
    v.strictObject({
      leastMaxAgeSeconds: v.optional(whole(0, longestSeconds)),
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
export const cache = v.lazy((given) =>
  typeof given === 'object' && given !== null ? parts : v.literal('off', 'takes off, or an object'),
);

/** @throws ConfigError in one sentence that names the property */
export function resolveCache(given: v.InferOutput<typeof cache>): ResolvedConfig['cache'] {
  if (given === 'off') return 'off';
  const { boundMs, hardBoundMs } = defaultSnapshotOptions;
  const { staleAfterSeconds: stale = boundMs / 1000, uselessAfterSeconds: useless = hardBoundMs / 1000 } =
    given.quotes;
  if (stale > useless)
    throw new ConfigError(
      `cache.quotes.staleAfterSeconds (${stale}) must not be more than cache.quotes.uselessAfterSeconds (${useless}), beyond which nothing is served.`,
    );
  return {
    quotes: defined(given.quotes),
    clients: defined(given.clients),
    ...(given.instances !== undefined && { instances: given.instances }),
    ...(given.networkPrefix && { networkPrefix: defined(given.networkPrefix) }),
  };
}

/** Without the properties that are undefined. */
const defined = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
