/**
 * How many calls a batch may spend on what the upstream refuses for a symbol: some to find out whose it is, some
 * to find the symbol among his. What one requester may have of them does not depend on another's junk.
 */

import type { QuoteLookup } from '../events/parse-request.ts';
import type { SnapshotLookupCall } from './merge.ts';

export interface BisectQuota {
  /** Whether the two calls may be made in place of the refused one; counts them. */
  may(halves: readonly SnapshotLookupCall[]): boolean;
}

/** Calls of a batch that part requesters from each other. */
const mostPartings = 32;
/** Those that part one's symbols: in a batch, and of one requester. To find one of a hundred takes fourteen. */
const mostHalvings = 24;
const mostHalvingsEach = 16;

export function createBisectQuota(): BisectQuota {
  let partings = 0;
  let halvings = 0;
  const ofEach = new Map<QuoteLookup, number>();
  return {
    may(halves) {
      const lookup = isOfOne(halves) && halves[0]?.lookups[0];
      if (!lookup) {
        partings += 2;
        return partings <= mostPartings;
      }
      const his = (ofEach.get(lookup) ?? 0) + 2;
      if (halvings >= mostHalvings || his > mostHalvingsEach) return false;
      halvings += 2;
      ofEach.set(lookup, his);
      return true;
    },
  };
}

/** Whether both are for the same requester, and only for him. */
export const isOfOne = ([one, other]: readonly SnapshotLookupCall[]) => one?.lookups[0] === other?.lookups[0];
