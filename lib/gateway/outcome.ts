/** Outcomes of a request before they are rendered as HTTP. */

import type { Refused, UncachedAnswer } from '../answer.ts';
import { cutRecords, joinRecords, maxAnsweredRecords } from '../cache/snapshots/records.ts';
import type { SnapshotRecord } from '../problem.ts';

export { type Refused, refused, type UncachedAnswer } from '../answer.ts';

export type Outcome = UncachedAnswer | CachedResponse | SnapshotsFound | StreamOpened | Refused;

/** An answer that is sent event by event. */
interface StreamOpened {
  readonly kind: 'stream';
  /** Server-sent events; the stream opens when the first is requested, and closes when the iterator ends or returns. */
  readonly events: AsyncIterable<string>;
  /** Always empty; it lets callers read any outcome's `body`. */
  readonly body: Uint8Array;
}

/** `hit`: the answer was cached; `miss`: this request fetched it; `collapsed`: it waited for another request's fetch. */
export type CacheResult = 'hit' | 'miss' | 'collapsed';

/** A whole response that equal requests share. */
export interface CachedResponse {
  readonly kind: 'cached';
  readonly body: Uint8Array;
  readonly cacheResult: CacheResult;
  readonly ageMs: number;
  /** How long the response stays fresh; below zero when it is stale. */
  readonly ttlMs: number;
  /** How long such a response is fresh from the moment it was fetched. */
  readonly freshMs: number;
  /** Present for data of an account: clients must revalidate it each time. */
  readonly isAccountData?: true;
}

/** Records by symbol, each with an age of its own. */
export interface SnapshotsFound {
  readonly kind: 'snapshots';
  /** Each requested symbol that exists, in the requested order. */
  readonly records: readonly FoundRecord[];
  /** Requested symbols that the upstream does not know. */
  readonly unknown: readonly string[];
  readonly cacheResult: CacheResult;
  /** Age of the oldest record. */
  readonly ageMs: number;
  /** How long the oldest record stays within the soft bound; below zero when it is beyond. */
  readonly ttlMs: number;
  /** Whether the oldest record is beyond the soft bound. */
  readonly stale: boolean;
  /** Whether the request named a maximum age. */
  readonly hasMaxAge: boolean;
  /** Time until another request is likely to find newer records. */
  readonly pollAfterMs: number;
}

export interface FoundRecord extends SnapshotRecord {
  /** Hash of the bytes, for the ETag; computed once for each record and kept with it. */
  readonly hash: number;
}

/** The whole answer as one body. */
export const bodyOf = (outcome: Exclude<Outcome, Refused>): Uint8Array =>
  outcome.kind === 'snapshots' ? joinRecords(outcome.records.map(({ bytes }) => bytes)) : outcome.body;

/** One record of an outcome. An uncached record has no age: the upstream has just sent it. */
type RecordInOutcome = Pick<SnapshotRecord, 'bytes'> & Partial<Pick<SnapshotRecord, 'ageMs'>>;

/** The records of an answer by symbol; undefined when the upstream's answer is not a list of records. */
export function recordsOf(
  outcome: Exclude<Outcome, Refused>,
): ReadonlyMap<string, RecordInOutcome> | undefined {
  if (outcome.kind === 'snapshots') return new Map(outcome.records.map((record) => [record.symbol, record]));
  const records = cutRecords(outcome.body, maxAnsweredRecords);
  const age = outcome.kind === 'cached' && { ageMs: outcome.ageMs };
  return records && new Map(Array.from(records, ([symbol, bytes]) => [symbol, { bytes, ...age }]));
}
