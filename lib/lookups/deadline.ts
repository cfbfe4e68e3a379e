/** Until when a requester waits. */

import { defaultDeadlineSeconds, longestDeadlineSeconds } from '../events/names.ts';
import type { Lookup } from '../events/parse-request.ts';

/**
 * However late it is given: a request must not outlast the memory of it.
 * @param sentAt when the request came, in milliseconds since the epoch
 */
export function deadlineOf({ deadlineMs, deadlineSeconds }: Lookup, sentAt: number): number {
  const otherwise = deadlineMs === undefined ? defaultDeadlineSeconds : longestDeadlineSeconds;
  return Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, sentAt + 1000 * (deadlineSeconds ?? otherwise));
}
