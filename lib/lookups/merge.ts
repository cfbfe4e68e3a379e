/**
 * Merges lookups of quotes into few calls: those of one requester that ask for the same symbol in the same view share
 * it. Requesters share no call, so that the gateway can tell them apart, and none answers for another's invalid symbols.
 */

import type { QuoteLookup } from '../events/parse-request.ts';
import { halves } from '../kernel/bisect.ts';
import type { LookupRequester, OwnedQuotes } from './request.ts';

/** One call for at most as many symbols as the upstream accepts. */
export interface SnapshotLookupCall extends LookupRequester {
  /** A record of one group never answers for another. */
  readonly group: string;
  readonly query: OwnedQuotes['query'];
  readonly symbols: readonly string[];
  /** The smallest that any of the lookups names. */
  readonly maxAgeSeconds?: number;
  /** Those that want any of the symbols. */
  readonly lookups: readonly OwnedQuotes[];
}

/** A requester and a view: records of different views are different. */
export const groupOf = ({ requester, query }: Pick<OwnedQuotes, 'requester' | 'query'>): string =>
  JSON.stringify([requester, query]);

export function mergeLookups(
  lookups: readonly OwnedQuotes[],
  maxSymbols: number,
): readonly SnapshotLookupCall[] {
  const groups = new Map<string, OwnedQuotes[]>();
  for (const lookup of lookups) {
    const group = groupOf(lookup);
    groups.set(group, [...(groups.get(group) ?? []), lookup]);
  }
  return [...groups].flatMap(([group, members]) => {
    const [{ requester, query }] = members as [OwnedQuotes];
    // Symbols with a small maximum age share calls with each other, so that the cache can serve the others.
    const sorted = [...maxAgesOf(members)].sort(([, one], [, other]) => (one === other ? 0 : one - other));
    return chunks(sorted, maxSymbols).map((chunk) => ({
      ...callFor(
        { group, query, requester, lookups: members },
        chunk.map(([symbol]) => symbol),
      ),
      ...(Number.isFinite(chunk[0]?.[1]) && { maxAgeSeconds: chunk[0]?.[1] as number }),
    }));
  });
}

/** Two calls, each for half of the lookups; of a single lookup, for half of its symbols. */
export function halvesOf(call: SnapshotLookupCall): readonly SnapshotLookupCall[] {
  const { lookups, symbols } = call;
  if (lookups.length === 1) return halves(symbols).map((half) => ({ ...call, symbols: half }));
  return halves(lookups).map((half) => {
    const wanted = new Set(half.flatMap((lookup) => lookup.symbols));
    return { ...call, lookups: half, symbols: symbols.filter((symbol) => wanted.has(symbol)) };
  });
}

/** The call for a part of its symbols, which not all of its lookups may want. */
export function callFor(
  call: Omit<SnapshotLookupCall, 'symbols'>,
  symbols: readonly string[],
): SnapshotLookupCall {
  const wanted = new Set(symbols);
  return {
    ...call,
    symbols,
    lookups: call.lookups.filter((lookup) => lookup.symbols.some((symbol) => wanted.has(symbol))),
  };
}

/** In seconds, by symbol: the smallest that any of the lookups names. */
function maxAgesOf(lookups: readonly OwnedQuotes[]): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  for (const { symbols, maxAgeSeconds = Number.POSITIVE_INFINITY } of lookups)
    for (const symbol of symbols)
      ages.set(symbol, Math.min(ages.get(symbol) ?? Number.POSITIVE_INFINITY, maxAgeSeconds));
  return ages;
}

function chunks<T>(all: readonly T[], max: number): readonly (readonly T[])[] {
  const found: T[][] = [];
  for (let at = 0; at < all.length; at += max) found.push(all.slice(at, at + max));
  return found;
}

/** Calls of a batch that separate requesters from each other. */
const maxSeparations = 32;
/** Calls that split one requester's symbols: of a batch, and of one requester. One in a hundred takes fourteen. */
const maxSplits = 24;
const maxSplitsEach = 16;

/**
 * How many calls a batch may spend to find the symbol for which the upstream refuses a whole call: some to find its
 * requester, some to find it among that requester's symbols. One requester's invalid symbols do not use up the
 * calls of another.
 */
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
