/** The refusals of the last moment. They have a place of their own, because they do not replace cached responses. */

import type { StoredResponse } from './store.ts';

export interface RecentRefusals {
  get(key: string, now: number): StoredResponse | undefined;
  put(key: string, refusal: StoredResponse, now: number): void;
}

export function createRecentRefusals(forMs: number): RecentRefusals {
  /** In the order in which they expire. */
  const refusals = new Map<string, { readonly refusal: StoredResponse; readonly until: number }>();
  return {
    get(key, now) {
      const recent = refusals.get(key);
      return recent && recent.until >= now ? recent.refusal : undefined;
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
