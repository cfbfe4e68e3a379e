/** Cache metrics in the function's log: reads, hits and the age of quotes, counted under the secret over all functions. */

import type { RequestReport } from '../../lib/gateway/index.ts';
import type { Log } from './log.ts';
import { figuresOf } from './metrics.ts';

interface CacheMetricsOptions {
  readonly secretId: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Shortest time between two lines: each minute has some, because three minutes in a row with stale quotes are an alarm. */
const pauseMs = 10_000;

export function createCacheMetrics(log: Log, { secretId, clock }: CacheMetricsOptions) {
  const none = { reads: 0, hits: 0, stale: 0, age: undefined as number | undefined };
  let since = none;
  let notBefore = Number.NEGATIVE_INFINITY;
  return {
    /** Counts a request; ignores one that bypassed the cache. */
    record({ cache, quotesAgeMs, stale }: Pick<RequestReport, 'cache' | 'quotesAgeMs' | 'stale'>): void {
      if (!cache) return;
      const { reads, hits, age } = since;
      since = {
        reads: reads + 1,
        hits: hits + (cache === 'miss' ? 0 : 1),
        stale: since.stale + (stale ? 1 : 0),
        age: quotesAgeMs === undefined ? age : Math.max(age ?? 0, quotesAgeMs / 1000),
      };
    },
    /** Writes the figures since the last line, unless that was written moments ago. */
    write(): void {
      if (since.reads === 0 || clock() < notBefore) return;
      notBefore = clock() + pauseMs;
      const { reads, hits, stale, age } = since;
      since = none;
      log({
        level: 'info',
        event: 'cache',
        ...figuresOf('Secret', secretId, clock(), {
          CacheReads: reads,
          CacheHits: hits,
          QuotesStale: age === undefined ? undefined : stale,
          QuoteAge: age,
        }),
      });
    },
  };
}
