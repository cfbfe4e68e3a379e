/**
 * How many calls a batch may spend to find the symbol for which the upstream refuses a whole call: some to find its
 * requester, some to find it among that requester's symbols. One requester's invalid symbols do not use up the
 * calls of another.
 */

import type { QuoteLookup } from '../events/parse-request.ts';
import type { SnapshotLookupCall } from './merge.ts';

/** Calls of a batch that separate requesters from each other. */
const maxSeparations = 32;
/** Calls that split one requester's symbols: of a batch, and of one requester. One in a hundred takes fourteen. */
const maxSplits = 24;
const maxSplitsEach = 16;

export class BisectQuota {
  #separations = 0;
  #splits = 0;
  readonly #splitsOf = new Map<QuoteLookup, number>();

  /** Whether both calls may be made in place of the refused one; counts them. */
  allows(halves: readonly SnapshotLookupCall[]): boolean {
    const lookup = haveSameRequester(halves) && halves[0]?.lookups[0];
    if (!lookup) {
      this.#separations += 2;
      return this.#separations <= maxSeparations;
    }
    const ofLookup = (this.#splitsOf.get(lookup) ?? 0) + 2;
    if (this.#splits >= maxSplits || ofLookup > maxSplitsEach) return false;
    this.#splits += 2;
    this.#splitsOf.set(lookup, ofLookup);
    return true;
  }
}

/** Whether both halves are one requester's alone. */
export const haveSameRequester = ([one, other]: readonly SnapshotLookupCall[]) =>
  one?.lookups[0] === other?.lookups[0];
