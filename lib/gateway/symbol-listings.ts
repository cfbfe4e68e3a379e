/** Reads the upstream's lists of instruments, one page per request, for the directory of symbols. */

import type { Listings } from '../cache/snapshots/index.ts';
import type { SymbolListing } from '../catalogue/symbol-listing.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import { parseJson } from '../kernel/parse-json.ts';
import type { CacheParts } from './cache-options.ts';
import { createContext } from './context.ts';
import { wasNotSent } from './upstream.ts';

/** Longest wait for a permit: short, because a client waits for the page and can do without it. */
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
          // The priority `events` is below that of callers, but above that of callers over their share.
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

/** Most records of a page: ten times as many as the pages that were seen had. */
const maxRecords = 10_000;
/** Longest record that is parsed; a record is some hundred bytes. */
const maxRecordBytes = 16_384;

/** Reads a page record by record, because a whole parsed page would take many times its size. Undefined for no page. */
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
