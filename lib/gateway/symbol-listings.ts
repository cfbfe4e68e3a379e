/** The upstream's lists of instruments, one page for each request: the source of the directory of symbols. */

import type { Listings } from '../cache/snapshots/index.ts';
import type { SymbolListing } from '../catalogue/symbol-listing.ts';
import type { CacheParts } from './cache-options.ts';
import { createContext } from './context.ts';
import { wasNotSent } from './upstream.ts';

/** A client waits for the page, too, and can do without it. */
const permitWaitMs = 250;

export function createListings(
  { operation, queries, categoryOf }: SymbolListing,
  { upstream, credentials, clock }: Pick<CacheParts, 'upstream' | 'credentials' | 'clock'>,
): Listings {
  return {
    count: queries.length,
    async ask(list, cursor, timeoutMs) {
      const query = queries[list];
      const current = await credentials.forRead();
      if (!query || !current.ok) return undefined;
      const outcome = await upstream.fetch(
        {
          operation,
          path: operation.path,
          request: {
            query: cursor === undefined ? query : [...query, ['pagination_key', cursor]],
            body: '',
            headers: {},
          },
          // Callers come first, but not those that are over their share.
          context: createContext(clock() + timeoutMs, 'events'),
          timeoutMs,
          own: { waitMs: permitWaitMs },
        },
        current.credential,
      );
      if (outcome.kind === 'answer') return readPage(outcome.body, categoryOf);
      return wasNotSent(outcome) ? 'not_sent' : undefined;
    },
  };
}

/** Undefined when the body is no page of a list. */
function readPage(body: Uint8Array, categoryOf: SymbolListing['categoryOf']) {
  let page: { readonly data?: unknown; readonly pagination_key?: unknown };
  try {
    page = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
  if (!Array.isArray(page?.data)) return undefined;
  const symbols = new Map<string, string[]>();
  for (const record of page.data as readonly Readonly<Record<string, unknown>>[]) {
    if (typeof record?.symbol !== 'string') continue;
    const category = categoryOf(record);
    const listed = symbols.get(category);
    if (listed) listed.push(record.symbol);
    else symbols.set(category, [record.symbol]);
  }
  const next = page.pagination_key ?? '';
  if (typeof next !== 'string') return undefined;
  return { symbols, ...(next !== '' && { next }) };
}
