/** When a requester stops waiting. */

import { defaultDeadlineSeconds, longestDeadlineSeconds } from '../events/names.ts';
import type { Lookup } from '../events/parse-request.ts';

/**
 * Limited, whatever the request names: a request must not live longer than the store remembers it.
 * @param sentAt when the request entered the queue, in milliseconds since the epoch
 */
export function deadlineOf({ deadlineMs, deadlineSeconds }: Lookup, sentAt: number): number {
  const otherwise = deadlineMs === undefined ? defaultDeadlineSeconds : longestDeadlineSeconds;
  return Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, sentAt + 1000 * (deadlineSeconds ?? otherwise));
}
