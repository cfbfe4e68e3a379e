/** The upstream's lists of instruments, one page for each request: the source of the directory of symbols. */

import type { Listings } from '../cache/snapshots/index.ts';
import type { SymbolListing } from '../catalogue/symbol-listing.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import { parseJson } from '../kernel/parse-json.ts';
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
      const answer = await upstream.fetch(
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
      if (answer.kind === 'uncached') return readPage(answer.body, categoryOf);
      return wasNotSent(answer) ? 'not_sent' : undefined;
    },
  };
}

/** Ten times as many as the pages have that were seen. */
const maxRecords = 10_000;
/** A record is some hundred bytes; a longer one is not parsed. */
const maxRecordBytes = 16_384;

/** Undefined when the body is no page of a list. Record by record: a whole page would be many times its size. */
function readPage(body: Uint8Array, categoryOf: SymbolListing['categoryOf']) {
  const members = membersOf(body, ['data', 'pagination_key']);
  const data = members?.get('data');
  if (!data || data[0] !== openBracket) return undefined;
  const symbols = new Map<string, string[]>();
  let records = 0;
  for (const bytes of elementsOf(data)) {
    if (++records > maxRecords) return undefined;
    if (bytes.length > maxRecordBytes) continue;
    const record = parsed(bytes) as Readonly<Record<string, unknown>> | null;
    if (typeof record?.symbol !== 'string') continue;
    const category = categoryOf(record);
    const listed = symbols.get(category);
    if (listed) listed.push(record.symbol);
    else symbols.set(category, [record.symbol]);
  }
  const key = members?.get('pagination_key');
  const next = (key && key.length <= maxRecordBytes ? parsed(key) : undefined) ?? '';
  if (typeof next !== 'string' && typeof next !== 'number') return undefined;
  return { symbols, ...(next !== '' && { next: `${next}` }) };
}

const openBracket = 0x5b;

const parsed = (bytes: Uint8Array): unknown => parseJson(new TextDecoder().decode(bytes));
