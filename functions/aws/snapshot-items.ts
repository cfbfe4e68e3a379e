/**
 * Entries of the quote journal and checkpoints as bytes, and back. Reading them is most of what the store costs and is paid
 * for by 4 kB, writing by 1 kB: compressed, a hundred records are 6 kB instead of 32.
 */

import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { cutRecords, joinRecords } from '../../lib/cache/snapshots/records.ts';
import type {
  Checkpoint,
  Fetched,
  Flight,
  RefreshOutcome,
  RefreshRecord,
} from '../../lib/cache/snapshots/store.ts';

/** Another one when the meaning of the bytes changes; those of another version are not read. */
const version = 1;
/** More is better by little and slower by much: 0.6 ms for a hundred records. */
const quality = 5;
/** Far above any entry, far below what would hurt. */
const mostBytes = 16 * 1024 * 1024;

/** What stands before the records, in short names: version, outcome, asked by view. */
interface Head extends Omit<RefreshRecord, 'turn' | 'outcome' | 'asked'> {
  readonly v: number;
  readonly outcome:
    | Exclude<RefreshOutcome, { kind: 'answer' }>
    | { kind: 'answer'; unknown: readonly string[] };
  readonly asked: Readonly<Record<string, readonly (string | number)[]>>;
}

const lineEnd = 0x0a;

export function packRecord({ turn: _, outcome, asked, symbols, ...entry }: RefreshRecord): Uint8Array {
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
  return compressed(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]));
}

function compressed(bytes: Uint8Array): Uint8Array {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

/** Undefined for what is no entry of this version. */
export function unpackRecord(turn: number, packed: Uint8Array): RefreshRecord | undefined {
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

/** What stands before the records of a checkpoint: each group with the length of its records. */
interface CheckpointHead extends Omit<Checkpoint, 'fetched' | 'demand'> {
  readonly v: number;
  readonly groups: readonly (Omit<Fetched, 'records'> & { readonly length: number })[];
  /** By view: symbol, times, and seconds since it was asked for. */
  readonly demand: Readonly<Record<string, readonly (string | number)[]>>;
}

/** A checkpoint in as many parts as it takes, none of more bytes than an item of the table holds. */
export function packCheckpoint(checkpoint: Checkpoint, mostItemBytes: number): readonly Uint8Array[] {
  const packed = compressed(checkpointBytes(checkpoint));
  if (packed.length <= mostItemBytes || checkpoint.fetched.length < 2) return [packed];
  const middle = Math.ceil(checkpoint.fetched.length / 2);
  const nothing = { demand: [], unknown: [], past: [], failedTests: [] };
  return [
    ...packCheckpoint({ ...checkpoint, fetched: checkpoint.fetched.slice(0, middle) }, mostItemBytes),
    ...packCheckpoint(
      { ...checkpoint, ...nothing, fetched: checkpoint.fetched.slice(middle) },
      mostItemBytes,
    ),
  ];
}

function checkpointBytes({ fetched, demand, ...checkpoint }: Checkpoint): Uint8Array {
  const bodies = fetched.map(({ records }) => joinRecords([...records.values()]));
  const byView: Record<string, (string | number)[]> = {};
  for (const [view, symbol, times, askedAt] of demand) {
    const list = byView[view] ?? [];
    list.push(symbol, Math.round(10 * times) / 10, Math.round((checkpoint.at - askedAt) / 1000));
    byView[view] = list;
  }
  const head: CheckpointHead = {
    v: version,
    ...checkpoint,
    groups: fetched.map(({ records: _, ...group }, at) => ({ ...group, length: bodies[at]!.length })),
    demand: byView,
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...bodies]);
}

/** Undefined for what is no part of a checkpoint of this version. */
export function unpackCheckpoint(packed: Uint8Array): Checkpoint | undefined {
  try {
    const bytes = brotliDecompressSync(packed, { maxOutputLength: mostBytes });
    let at = bytes.indexOf(lineEnd) + 1;
    const { v, groups, demand, ...head } = JSON.parse(bytes.subarray(0, at).toString()) as CheckpointHead;
    if (v !== version) return undefined;
    const fetched: Fetched[] = [];
    for (const { length, ...group } of groups) {
      const records = cutRecords(bytes.subarray(at, at + length));
      at += length;
      if (records) fetched.push({ ...group, records });
    }
    return {
      ...head,
      fetched,
      demand: Object.entries(demand).flatMap(([view, list]) =>
        triples(list).map(
          ([symbol, times, seconds]) => [view, symbol, times, head.at - 1000 * seconds] as const,
        ),
      ),
    };
  } catch {
    return undefined;
  }
}

function triples(list: readonly (string | number)[]): (readonly [symbol: string, a: number, b: number])[] {
  const found: (readonly [string, number, number])[] = [];
  for (let at = 0; at + 2 < list.length; at += 3)
    found.push([String(list[at]), Number(list[at + 1]), Number(list[at + 2])]);
  return found;
}

/** The parts of the last checkpoint as one; of an older one that was larger, parts may be left. */
export function joinCheckpoint(parts: readonly Checkpoint[]): Checkpoint | undefined {
  const [first, ...others] = parts;
  if (!first) return undefined;
  const same = others.filter(({ turn, at }) => turn === first.turn && at === first.at);
  return { ...first, fetched: [first, ...same].flatMap(({ fetched }) => fetched) };
}

type FlightHead = readonly [
  turn: number,
  sinceFirst: number,
  view: string,
  marks: number,
  caller?: string,
  isProbe?: 0 | 1,
];

/** Marks as 16-bit numbers: the control item is read with each look, and with a thousand symbols under way is below 4 kB. */
export function packFlights(flights: readonly Flight[]): Uint8Array {
  const first = flights[0]?.at ?? 0;
  const heads = flights.map(
    ({ turn, at, view, marks: { length }, caller, isProbe }): FlightHead =>
      caller === undefined
        ? [turn, at - first, view, length]
        : [turn, at - first, view, length, caller, isProbe ? 1 : 0],
  );
  const marks = Uint16Array.from(flights.flatMap((flight) => flight.marks));
  return Buffer.concat([Buffer.from(`${JSON.stringify([first, heads])}\n`), Buffer.from(marks.buffer)]);
}

/** @throws SyntaxError for what is not of this form */
export function unpackFlights(packed: Uint8Array): readonly Flight[] {
  const bytes = Buffer.from(packed);
  let at = bytes.indexOf(lineEnd) + 1;
  const [first, heads] = JSON.parse(bytes.subarray(0, at).toString()) as [number, readonly FlightHead[]];
  return heads.map(([turn, since, view, count, caller, isProbe]) => {
    const start = at;
    at += 2 * count;
    const marks = Array.from({ length: count }, (_, index) => bytes.readUInt16LE(start + 2 * index));
    const test = { ...(caller !== undefined && { caller }), ...(isProbe && { isProbe: true as const }) };
    return { turn, at: first + since, view, marks, ...test };
  });
}
