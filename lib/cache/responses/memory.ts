/**
 * Responses in an instance's memory. Responses requested once have a space of their own, so that a stream of unusual
 * requests cannot evict the responses that many clients use.
 */

import { createByteBounded } from '../../kernel/bounded-map.ts';
import type { StoredResponse } from './store.ts';

export interface ResponseMemory {
  get(key: string): StoredResponse | undefined;
  put(key: string, answer: StoredResponse): void;
}

/** Share of the memory for responses requested once. */
const onceShare = 0.2;
/** Bytes of a cached response besides its body. */
const overheadBytes = 300;

export function createResponseMemory(maxBytes: number): ResponseMemory {
  const once = createByteBounded(maxBytes * onceShare, sizeOf);
  const again = createByteBounded(maxBytes * (1 - onceShare), sizeOf);
  return {
    get(key) {
      const answer = again.take(key) ?? once.take(key);
      if (answer) again.put(key, answer);
      return answer;
    },
    put(key, answer) {
      if (again.take(key)) again.put(key, answer);
      else {
        once.take(key);
        once.put(key, answer);
      }
    },
  };
}

const sizeOf = (answer: StoredResponse): number =>
  overheadBytes +
  (answer.kind === 'answer' ? answer.body.byteLength : JSON.stringify(answer.refusal ?? 0).length);

/** Refusals of the last `forMs` milliseconds. They are kept apart, because they do not replace cached responses. */
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
