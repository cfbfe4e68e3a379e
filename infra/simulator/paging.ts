/**
 * Pages with a cursor. A cursor says which moment the first page saw and which record comes next, so that
 * who goes through the pages meets each record of that moment once, however much changes meanwhile.
 */

import type { Operation } from '../../lib/catalogue/index.ts';
import { illegalParameter, parameterError, type Refusal, wrongParameter } from './refusal.ts';

export interface Cursor {
  /** The moment of the first page, Unix time in milliseconds. */
  readonly now: number;
  /** The key of the last record that was given, or how many were given. */
  readonly after: string;
}

/** Undefined for the first page. */
export function readCursor(
  operation: Operation,
  query: Readonly<Record<string, string>>,
  now: number,
): Cursor | undefined | Refusal {
  const text = query.pagination_key;
  if (text === undefined) return undefined;
  const [, time, after] = /^p1\|(\d{1,15})\|(.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const cursor = { now: Number(time), after: after ?? '' };
  // Only what an answer held is a cursor, and no answer was given in the future.
  return after !== undefined && cursor.now <= now && writeCursor(cursor) === text
    ? cursor
    : wrongParameter(operation, 'pagination_key');
}

export function writeCursor({ now, after }: Cursor): string {
  return Buffer.from(`p1|${now}|${after}`).toString('base64url');
}

export interface Page<T> {
  readonly records: readonly T[];
  /** Absent on the last page. */
  readonly pagination_key?: string;
}

/** The page of market data at a cursor that counts; `all` is what there was at the first page's moment, `now`. */
export function pageByCount<T>(
  all: readonly T[],
  size: number,
  now: number,
  cursor: Cursor | undefined,
): Page<T> | Refusal {
  const after = cursor?.after ?? '0';
  if (!/^\d{1,9}$/.test(after)) return illegalParameter('pagination_key');
  const start = Number(after);
  const end = start + size;
  return {
    records: all.slice(start, end),
    ...(end < all.length && { pagination_key: writeCursor({ now, after: String(end) }) }),
  };
}

/**
 * The page of instruments at a cursor that names the last record given; their keys rise. It holds where
 * records go within the very millisecond of the first page, in which a count would leave one out.
 */
export function pageAfter<T>(
  all: readonly T[],
  keyOf: (record: T) => bigint,
  size: number,
  now: number,
  cursor: Cursor | undefined,
): Page<T> | Refusal {
  if (cursor && !/^\d{1,18}$/.test(cursor.after)) return parameterError('pagination_key');
  const after = BigInt(cursor?.after ?? -1);
  const rest = cursor ? all.filter((record) => keyOf(record) > after) : all;
  const records = rest.slice(0, size);
  return {
    records,
    ...(rest.length > size && {
      pagination_key: writeCursor({ now, after: String(keyOf(records.at(-1)!)) }),
    }),
  };
}
