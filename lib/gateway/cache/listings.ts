/** The upstream's lists of instruments, a page for each request: what the directory of symbols is made of. */

import type { Listings } from '../../cache/snapshots/index.ts';
import type { SymbolListing } from '../../catalogue/symbol-listing.ts';
import type { RequestContext } from '../context.ts';
import type { CacheParts } from './ports.ts';

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
      // What a client waits for comes first.
      const trail: RequestContext = { attempts: 0, deadline: clock() + timeoutMs, priority: 'background' };
      const outcome = await upstream.ask(
        {
          operation,
          path: operation.path,
          request: {
            query: cursor === undefined ? query : [...query, ['pagination_key', cursor]],
            body: '',
            headers: {},
          },
          trail,
          timeoutMs,
        },
        current.identity,
      );
      return outcome.kind === 'answer' ? readPage(outcome.body, categoryOf) : undefined;
    },
  };
}

/** Undefined for what is no page. */
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
    const known = symbols.get(category);
    if (known) known.push(record.symbol);
    else symbols.set(category, [record.symbol]);
  }
  const next = page.pagination_key ?? '';
  if (typeof next !== 'string') return undefined;
  return { symbols, ...(next !== '' && { next }) };
}
