/** How long a request waits for a store of the guard rails. */

import { afterTimeout } from '../limiter/clock.ts';

/** Rejects after so many milliseconds; what comes later counts for the next request. */
export function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = afterTimeout(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    promise.then(resolve, reject).finally(cancel);
  });
}
