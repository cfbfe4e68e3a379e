/**
 * Many lookups of quotes as few calls: those of one source that ask for the same symbol in the same way share it.
 * Sources share no call, so that each is told apart by whoever answers, and none stands for another's bad symbols.
 */

import type { QuoteLookup } from '../events/parse-request.ts';

/** One call for up to as many symbols as the upstream takes. */
export interface SnapshotLookupCall {
  /** Records of different groups never stand in for each other. */
  readonly group: string;
  readonly source?: string;
  readonly query: QuoteLookup['query'];
  readonly symbols: readonly string[];
  /** Of whoever among them wants the freshest. */
  readonly maxAgeSeconds?: number;
  /** Who wants any of it. */
  readonly lookups: readonly QuoteLookup[];
}

/** A source and a view: records of different views are different. */
export const groupOf = ({ source = '', query }: Pick<QuoteLookup, 'source' | 'query'>): string =>
  [source, ...query.map(([name, value]) => `${name}=${value}`)].join('&');

/** @param most symbols in one call */
export function mergeLookups(lookups: readonly QuoteLookup[], most: number): readonly SnapshotLookupCall[] {
  const groups = new Map<string, QuoteLookup[]>();
  for (const lookup of lookups) {
    const group = groupOf(lookup);
    groups.set(group, [...(groups.get(group) ?? []), lookup]);
  }
  return [...groups].flatMap(([group, members]) => {
    const [{ source, query }] = members as [QuoteLookup];
    // Those who want it fresh share calls with each other, so that the rest can be served from what is known.
    const sorted = [...agesOf(members)].sort(([, one], [, other]) => (one === other ? 0 : one - other));
    return chunks(sorted, most).map((chunk) => ({
      ...callFor(
        { group, query, ...(source !== undefined && { source }), lookups: members },
        chunk.map(([symbol]) => symbol),
      ),
      ...(Number.isFinite(chunk[0]?.[1]) && { maxAgeSeconds: chunk[0]?.[1] as number }),
    }));
  });
}

/** A call for half of its lookups and one for the others; of a single lookup, for half of its symbols each. */
export function halvesOf(call: SnapshotLookupCall): readonly SnapshotLookupCall[] {
  const { lookups, symbols } = call;
  if (lookups.length === 1) return halves(symbols).map((half) => ({ ...call, symbols: half }));
  return halves(lookups).map((half) => {
    const theirs = new Set(half.flatMap((lookup) => lookup.symbols));
    return { ...call, lookups: half, symbols: symbols.filter((symbol) => theirs.has(symbol)) };
  });
}

/** @param call of which the symbols are a part, and perhaps not everybody's */
export function callFor(
  call: Omit<SnapshotLookupCall, 'symbols'>,
  symbols: readonly string[],
): SnapshotLookupCall {
  const some = new Set(symbols);
  return {
    ...call,
    symbols,
    lookups: call.lookups.filter((lookup) => lookup.symbols.some((symbol) => some.has(symbol))),
  };
}

/** How old each symbol may be for whoever wants it freshest. */
function agesOf(lookups: readonly QuoteLookup[]): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  for (const { symbols, maxAgeSeconds = Number.POSITIVE_INFINITY } of lookups)
    for (const symbol of symbols)
      ages.set(symbol, Math.min(ages.get(symbol) ?? Number.POSITIVE_INFINITY, maxAgeSeconds));
  return ages;
}

function halves<T>(all: readonly T[]): readonly (readonly T[])[] {
  return chunks(all, Math.ceil(all.length / 2));
}

function chunks<T>(all: readonly T[], most: number): readonly (readonly T[])[] {
  const found: T[][] = [];
  for (let at = 0; at < all.length; at += most) found.push(all.slice(at, at + most));
  return found;
}
