/** Quotes as an answer of HTTP: the records as they came, in the order asked, and the truth about their age. */

import { ageHeader, cacheStatus, matchesTag, readCacheDirectives, weakTag } from '../headers.ts';
import { hashOf, hashOfAll } from './hash.ts';
import { defaultSnapshotOptions } from './options.ts';
import { joinRecords } from './records.ts';
import type { Snapshot, SnapshotCall, SnapshotOutcome } from './snapshot-cache.ts';

export interface SnapshotResponse {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What a client's headers say about the age that he wants; in lower case. */
export function cacheDirectivesOf(
  headers: Readonly<Record<string, string>>,
): Pick<SnapshotCall, 'maxAgeMs' | 'maxStaleMs' | 'onlyIfCached'> {
  return readCacheDirectives(headers['cache-control']);
}

/** @param staleAfterMs the figure of the same name, when it is not the default */
export function snapshotResponse(
  outcome: Extract<SnapshotOutcome, { kind: 'quotes' }>,
  headers: Readonly<Record<string, string>>,
  staleAfterMs = defaultSnapshotOptions.staleAfterMs,
): SnapshotResponse {
  const { quotes, ageMs, unknown, from, stale, pollAfterMs } = outcome;
  const etag = weakTag(hashOfAll(quotes.map(hashOfQuote)));
  const known = {
    etag,
    age: ageHeader(ageMs),
    // A client may keep it, to ask with its tag whether it changed.
    'cache-control': 'private, no-cache',
    'cache-status': cacheStatus({
      ...(from !== 'memory' && { fwd: outcome.isWish ? ('request' as const) : ('miss' as const) }),
      collapsed: from === 'other-turn',
      ttlMs: staleAfterMs - ageMs,
      ...(stale && { detail: 'older-than-the-bound' }),
    }),
    'x-poll-after': String(Math.max(1, Math.ceil(pollAfterMs / 1000))),
    // Symbols are printable and have no comma: the parameter's check says so.
    ...(unknown.length > 0 && { 'x-unknown-symbols': unknown.join(',') }),
  };
  if (matchesTag(headers['if-none-match'], etag))
    return { status: 304, headers: known, body: new Uint8Array() };
  return {
    status: 200,
    headers: { 'content-type': 'application/json', ...known },
    body: joinRecords(quotes.map(({ record }) => record)),
  };
}

/** Most answers hold quotes that others held before. */
function hashOfQuote(quote: Snapshot): number {
  quote.hash ??= hashOf(quote.record);
  return quote.hash;
}

/**
 * What is known beside a refusal, as members of its problem+json: `known`, each record as the upstream wrote
 * it with its age in seconds, and `missing`, the symbols of which nothing is known that may be shown.
 */
export function partialResultMembers(
  { known, missing }: { readonly known: readonly Snapshot[]; readonly missing: readonly string[] },
  now: number,
): string {
  const decoder = new TextDecoder();
  const records = known.map(
    ({ record, sentAt }) => `{"age":${ageHeader(now - sentAt)},"snapshot":${decoder.decode(record)}}`,
  );
  return `"missing":${JSON.stringify(missing)},"known":[${records.join(',')}]`;
}
