/**
 * Entries of the quote journal as bytes, and back. Reading them is most of what the store costs and is paid
 * for by 4 kB, writing by 1 kB: compressed, a hundred records are 6 kB instead of 32.
 */

import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { cutRecords, joinRecords } from '../../lib/gateway/quotes/records.ts';
import type { Entry, TurnOutcome } from '../../lib/gateway/quotes/store.ts';

/** Another one when the meaning of the bytes changes; those of another version are not read. */
const version = 1;
/** More is better by little and slower by much: 0.6 ms for a hundred records. */
const quality = 5;
/** Far above any entry, far below what would hurt. */
const mostBytes = 16 * 1024 * 1024;

/** What stands before the records, in short names: version, outcome, asked by view. */
interface Head extends Omit<Entry, 'turn' | 'outcome' | 'asked'> {
  readonly v: number;
  readonly outcome: Exclude<TurnOutcome, { kind: 'answer' }> | { kind: 'answer'; unknown: readonly string[] };
  readonly asked: Readonly<Record<string, readonly (string | number)[]>>;
}

const lineEnd = 0x0a;

export function packEntry({ turn: _, outcome, asked, symbols, ...entry }: Entry): Uint8Array {
  const body = outcome.kind === 'answer' ? joinRecords([...outcome.records.values()]) : new Uint8Array();
  const byView: Record<string, (string | number)[]> = {};
  for (const [view, symbol, times] of asked) {
    const list = byView[view] ?? [];
    list.push(symbol, times);
    byView[view] = list;
  }
  const head: Head = {
    v: version,
    ...entry,
    // The records name theirs, and what was left out is told by the outcome.
    symbols: outcome.kind === 'answer' ? [] : symbols,
    outcome: outcome.kind === 'answer' ? { kind: 'answer', unknown: outcome.unknown } : outcome,
    asked: byView,
  };
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

/** Undefined for what is no entry of this version. */
export function unpackEntry(turn: number, packed: Uint8Array): Entry | undefined {
  try {
    const bytes = brotliDecompressSync(packed, { maxOutputLength: mostBytes });
    const end = bytes.indexOf(lineEnd);
    const { v, outcome, asked, ...head } = JSON.parse(bytes.subarray(0, end).toString()) as Head;
    if (v !== version) return undefined;
    const records = cutRecords(bytes.subarray(end + 1));
    if (!records && outcome.kind === 'answer') return undefined;
    return {
      ...head,
      // In another order than they were asked for, which says nothing.
      ...(outcome.kind === 'answer' && { symbols: [...(records?.keys() ?? []), ...outcome.unknown] }),
      turn,
      outcome: outcome.kind === 'answer' ? { ...outcome, records: records ?? new Map() } : outcome,
      asked: Object.entries(asked).flatMap(([view, list]) =>
        pairs(list).map((one) => [view, ...one] as const),
      ),
    };
  } catch {
    return undefined;
  }
}

function pairs(list: readonly (string | number)[]): (readonly [symbol: string, times: number])[] {
  const found: (readonly [string, number])[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) found.push([String(list[at]), Number(list[at + 1])]);
  return found;
}
