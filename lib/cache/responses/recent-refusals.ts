/** The refusals of a moment ago, beside answers, which they do not replace. */

import type { StoredResponse } from './store.ts';

export interface RecentRefusals {
  get(key: string, now: number): StoredResponse | undefined;
  put(key: string, refusal: StoredResponse, now: number): void;
}

export function createRecentRefusals(forMs: number): RecentRefusals {
  /** In the order in which they run out. */
  const refusals = new Map<string, { readonly refusal: StoredResponse; readonly until: number }>();
  return {
    get(key, now) {
      const known = refusals.get(key);
      return known && known.until >= now ? known.refusal : undefined;
    },
    put(key, refusal, now) {
      for (const [old, { until }] of refusals) {
        if (until >= now) break;
        refusals.delete(old);
      }
      refusals.delete(key);
      refusals.set(key, { refusal, until: now + forMs });
    },
  };
}
