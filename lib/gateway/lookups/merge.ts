/** Many lookups of quotes as few calls: whoever asks for the same symbol in the same way shares it. */

import type { QuoteLookup } from '../../events/parse-request.ts';

/** One call for up to as many symbols as the upstream takes. */
export interface QuoteCall {
  /** Records of different views are different and never stand in for each other. */
  readonly view: string;
  readonly query: QuoteLookup['query'];
  readonly symbols: readonly string[];
  /** Of whoever among them wants the freshest. */
  readonly maxAgeSeconds?: number;
}

export const viewOf = ({ query }: Pick<QuoteLookup, 'query'>): string =>
  query.map(([name, value]) => `${name}=${value}`).join('&');

/** @param most symbols in one call */
export function mergeLookups(lookups: readonly QuoteLookup[], most: number): readonly QuoteCall[] {
  const views = new Map<string, { query: QuoteLookup['query']; ages: Map<string, number> }>();
  for (const lookup of lookups) {
    const key = viewOf(lookup);
    const view = views.get(key) ?? { query: lookup.query, ages: new Map<string, number>() };
    views.set(key, view);
    const { maxAgeSeconds = Number.POSITIVE_INFINITY } = lookup;
    for (const symbol of lookup.symbols)
      view.ages.set(symbol, Math.min(view.ages.get(symbol) ?? Number.POSITIVE_INFINITY, maxAgeSeconds));
  }
  return [...views].flatMap(([view, { query, ages }]) => {
    // Those who want it fresh share calls with each other, so that the rest can be served from what is known.
    const sorted = [...ages].sort(([, one], [, other]) => (one === other ? 0 : one - other));
    return chunks(sorted, most).map((chunk) => ({
      view,
      query,
      symbols: chunk.map(([symbol]) => symbol),
      ...(Number.isFinite(chunk[0]?.[1]) && { maxAgeSeconds: chunk[0]?.[1] as number }),
    }));
  });
}

function chunks<T>(all: readonly T[], most: number): readonly (readonly T[])[] {
  const found: T[][] = [];
  for (let at = 0; at < all.length; at += most) found.push(all.slice(at, at + most));
  return found;
}
