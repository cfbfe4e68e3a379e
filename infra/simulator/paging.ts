/**
 * Pages by cursor. A cursor contains the moment of the first page and the next record, so that a client that reads all
 * pages meets each record of that moment once, even if records change meanwhile.
 */

import type { Operation } from '../../lib/catalogue/index.ts';
import { type Rejection, wrongParameter } from './refusal.ts';

export interface Cursor {
  /** Moment of the first page, Unix time in milliseconds. */
  readonly now: number;
  /** Key of the last record that was sent, or the number of records sent. */
  readonly after: string;
}

interface PageRequested {
  readonly operation: Operation;
  readonly query: Readonly<Record<string, string>>;
  readonly now: number;
}

/** Reads the request's cursor; undefined for the first page. */
export function readCursor({ operation, query, now }: PageRequested): Cursor | undefined | Rejection {
  const text = query.pagination_key;
  if (text === undefined) return undefined;
  const [, time, after] = /^p1\|(\d{1,15})\|(.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const cursor = { now: Number(time), after: after ?? '' };
  // Accepts only cursors that an answer contained, and no answer came from the future.
  return after !== undefined && cursor.now <= now && writeCursor(cursor) === text
    ? cursor
    : wrongParameter(operation, 'pagination_key');
}

export function writeCursor({ now, after }: Cursor): string {
  return Buffer.from(`p1|${now}|${after}`).toString('base64url');
}

/** Requested page of the records that existed at the first page's moment. */
export function pageOf<T, F>(
  call: PageRequested,
  size: number,
  at: (moment: number) => { readonly records: readonly T[]; readonly facts?: F },
): { readonly records: readonly T[]; readonly facts?: F; readonly pagination_key?: string } | Rejection {
  const cursor = readCursor(call);
  if (cursor && 'error_code' in cursor) return cursor;
  const { now: moment, after } = cursor ?? { now: call.now, after: '0' };
  if (!/^\d{1,9}$/.test(after)) return wrongParameter(call.operation, 'pagination_key');
  const { records, ...rest } = at(moment);
  const end = Number(after) + size;
  return {
    ...rest,
    records: records.slice(Number(after), end),
    ...(end < records.length && { pagination_key: writeCursor({ now: moment, after: String(end) }) }),
  };
}
