/** What the gateway found for a request, before anything makes HTTP of it. */

import type { Refused, UncachedAnswer } from '../answer.ts';
import { cutRecords, joinRecords, maxAnsweredRecords } from '../cache/snapshots/records.ts';
import type { SnapshotRecord } from '../problem.ts';

export { type Refused, refused, type UncachedAnswer } from '../answer.ts';

export type Outcome = UncachedAnswer | CachedResponse | SnapshotsFound | StreamOpened | Refused;

/** What is told as it comes. */
export interface StreamOpened {
  readonly kind: 'stream';
  /** Server-sent events; the stream is open from the first that is asked for until the iterator ends or returns. */
  readonly events: AsyncIterable<string>;
  /** Empty: nothing of it is there at once. */
  readonly body: Uint8Array;
}

/** `hit`: it was cached; `miss`: this request fetched it; `collapsed`: another request fetched it meanwhile. */
export type CacheResult = 'hit' | 'miss' | 'collapsed';

/** A whole response, shared by equal requests. */
export interface CachedResponse {
  readonly kind: 'cached';
  readonly body: Uint8Array;
  readonly cacheResult: CacheResult;
  readonly ageMs: number;
  /** How long the response stays fresh; below zero when it is stale. */
  readonly ttlMs: number;
  /** How long such a response is fresh from the moment it was fetched. */
  readonly freshMs: number;
  /** It belongs to an account, so that a client asks each time whether it has changed. */
  readonly isAccountData?: true;
}

/** Records of single symbols, each of its own age. */
export interface SnapshotsFound {
  readonly kind: 'snapshots';
  /** Each requested symbol that exists, in the requested order. */
  readonly records: readonly FoundRecord[];
  /** Requested symbols that the upstream does not know. */
  readonly unknown: readonly string[];
  readonly cacheResult: CacheResult;
  /** Of the oldest record. */
  readonly ageMs: number;
  /** How long the oldest record stays within the soft bound; below zero when it is beyond. */
  readonly ttlMs: number;
  /** Whether the oldest record is beyond the soft bound. */
  readonly stale: boolean;
  /** Whether the request named a maximum age. */
  readonly hasMaxAge: boolean;
  /** When another request is likely to bring something new. */
  readonly pollAfterMs: number;
}

export interface FoundRecord extends SnapshotRecord {
  /** Of the bytes, for the ETag; computed once for each record and kept with it. */
  readonly hash: number;
}

/** The whole answer, as one body. */
export const bodyOf = (outcome: Exclude<Outcome, Refused>): Uint8Array =>
  outcome.kind === 'snapshots' ? joinRecords(outcome.records.map(({ bytes }) => bytes)) : outcome.body;

/** An uncached record has no age: the upstream answered just now. */
export type RecordInOutcome = Pick<SnapshotRecord, 'bytes'> & Partial<Pick<SnapshotRecord, 'ageMs'>>;

/** The records of an answer by symbol; undefined when the upstream's answer is no list of records. */
export function recordsOf(
  outcome: Exclude<Outcome, Refused>,
): ReadonlyMap<string, RecordInOutcome> | undefined {
  if (outcome.kind === 'snapshots') return new Map(outcome.records.map((record) => [record.symbol, record]));
  const records = cutRecords(outcome.body, maxAnsweredRecords);
  const age = outcome.kind === 'cached' && { ageMs: outcome.ageMs };
  return records && new Map(Array.from(records, ([symbol, bytes]) => [symbol, { bytes, ...age }]));
}
