/**
 * Merges lookups of quotes into few calls: lookups of one requester that ask for the same symbol in the same view share its
 * record. Requesters share no call: the gateway must know whose it is, and invalid symbols must concern nobody else.
 */

import { quoteOperation } from '../events/parse-request.ts';
import { halves } from '../kernel/bisect.ts';
import type { LookupRequester, OwnedQuotes } from './request.ts';

/** Largest number of symbols that the upstream accepts in one call. */
const maxSymbols = quoteOperation.query.symbols?.list?.maxItems ?? 100;

export interface SnapshotLookupCall extends LookupRequester {
  /** Requester and view; a record of one group never answers for another. */
  readonly group: string;
  readonly query: OwnedQuotes['query'];
  readonly symbols: readonly string[];
  /** Smallest age that any of the lookups names. */
  readonly maxAgeSeconds?: number;
  /** Lookups that need any of the symbols. */
  readonly lookups: readonly OwnedQuotes[];
}

/** Names the group of a requester and a view: records of different views differ. */
export const groupOf = ({ requester, query }: Pick<OwnedQuotes, 'requester' | 'query'>): string =>
  JSON.stringify([requester, query]);

export function mergeLookups(lookups: readonly OwnedQuotes[]): readonly SnapshotLookupCall[] {
  const groups = new Map<string, OwnedQuotes[]>();
  for (const lookup of lookups) {
    const group = groupOf(lookup);
    groups.set(group, [...(groups.get(group) ?? []), lookup]);
  }
  return [...groups].flatMap(([group, members]) => {
    const [{ requester, query }] = members as [OwnedQuotes];
    // Symbols with a small maximum age share calls with each other, so that the cache can serve the others.
    const sorted = [...maxAgesOf(members)].sort(([, one], [, other]) => (one === other ? 0 : one - other));
    const calls: SnapshotLookupCall[] = [];
    for (let at = 0; at < sorted.length; at += maxSymbols) {
      const chunk = sorted.slice(at, at + maxSymbols);
      const [[, maxAge]] = chunk as [[string, number]];
      const call = { group, query, requester, lookups: members };
      const symbols = chunk.map(([symbol]) => symbol);
      calls.push({ ...callFor(call, symbols), ...(Number.isFinite(maxAge) && { maxAgeSeconds: maxAge }) });
    }
    return calls;
  });
}

/** Splits a call into two, each for half of its lookups, or half of the symbols of a single lookup. */
export function halvesOf(call: SnapshotLookupCall): readonly SnapshotLookupCall[] {
  const { lookups, symbols } = call;
  if (lookups.length === 1) return halves(symbols).map((half) => ({ ...call, symbols: half }));
  return halves(lookups).map((half) => {
    const wanted = new Set(half.flatMap((lookup) => lookup.symbols));
    return { ...call, lookups: half, symbols: symbols.filter((symbol) => wanted.has(symbol)) };
  });
}

/** Reduces a call to a part of its symbols, and to the lookups that need them. */
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

/** Finds the smallest age for each symbol that any of the lookups names, in seconds. */
function maxAgesOf(lookups: readonly OwnedQuotes[]): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  for (const { symbols, maxAgeSeconds = Number.POSITIVE_INFINITY } of lookups)
    for (const symbol of symbols)
      ages.set(symbol, Math.min(ages.get(symbol) ?? Number.POSITIVE_INFINITY, maxAgeSeconds));
  return ages;
}

/** Calls of a batch that separate lookups from each other. */
const maxSeparations = 32;
/** Calls that split a lookup's symbols, in a batch and for each lookup. To find one bad symbol in a hundred takes fourteen. */
const maxSplits = 24;
const maxSplitsEach = 16;

/**
 * Limits the calls that a batch spends to find the symbol for which the upstream refuses a whole call: first the lookup with
 * the symbol, then the symbol in that lookup. One lookup's invalid symbols do not use up the calls of another.
 */
export class BisectQuota {
  #separations = 0;
  #splits = 0;
  readonly #splitsOf = new Map<OwnedQuotes, number>();

  /** Counts the two calls that replace a refused one. @returns whether they may be made */
  allows(halves: readonly SnapshotLookupCall[]): boolean {
    const lookup = haveSameLookup(halves) && halves[0]?.lookups[0];
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

/** Whether both halves belong to the same lookup. */
export const haveSameLookup = ([one, other]: readonly SnapshotLookupCall[]) =>
  one?.lookups[0] === other?.lookups[0];
