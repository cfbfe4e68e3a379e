/**
 * Records of the refresh log, checkpoints and calls under way as bytes, and back. Reading them is most of what the
 * store costs and is paid for by 4 kB, writing by 1 kB: compressed, a hundred records are 7 kB instead of 62.
 */

import type { Checkpoint, Fetched, Flight, RefreshRecord } from '../../lib/cache/snapshots/index.ts';
import { cutRecords } from '../../lib/cache/snapshots/records.ts';
import { halves } from '../../lib/kernel/bisect.ts';
import { compress, decompress } from './brotli.ts';
import { fromColumns, toColumns } from './snapshot-columns.ts';
import {
  fromStoredKind,
  fromStoredOutcome,
  type StoredCheckpoint,
  type StoredFetched,
  type StoredRecord,
  toStoredKind,
  toStoredOutcome,
} from './snapshot-names.ts';

/** Another one when the meaning of the bytes changes; those of a later version are not read. */
const version = 2;
/** The first version's records are a JSON array; what has no records is written as that one, which older instances read. */
const withoutColumns = 1;
/** Far above any record, far below what would hurt. */
const maxBytes = 16 * 1024 * 1024;

const lineEnd = 0x0a;

/** The head is one line of JSON; the snapshots follow it, in columns. */
export function packRecord(record: RefreshRecord): Uint8Array {
  const { writer, kind, view, sentAt, sibling, caller, priority, outcome } = record;
  const { namesUnknown, isUnlistedProbe, failedProbes, negative, demand, symbols } = record;
  const isAnswer = outcome.kind === 'answer';
  const head: StoredRecord = {
    v: isAnswer ? version : withoutColumns,
    by: writer,
    kind: toStoredKind(kind),
    view,
    sentAt,
    sibling,
    caller,
    priority,
    isProbe: isUnlistedProbe,
    namesUnknown,
    failedTests: failedProbes,
    unknown: negative,
    // The snapshots name theirs, and the outcome names those that were left out.
    symbols: isAnswer ? [] : symbols,
    outcome: isAnswer ? { kind: 'answer', unknown: outcome.unknown } : toStoredOutcome(outcome),
    asked: byView(demand),
  };
  return compress(headed(head, isAnswer ? [toColumns([...outcome.records.values()])] : []));
}

/**
 * @param only the one symbol that is needed: without it, an answer has no snapshots
 * @returns undefined for what is no record of this version
 */
export function unpackRecord(sequence: number, packed: Uint8Array, only?: string): RefreshRecord | undefined {
  try {
    const { head, body } = cutHead<StoredRecord>(packed);
    const { v, outcome, sibling, caller, priority, namesUnknown } = head;
    if (!isKnown(v)) return undefined;
    const isAnswer = outcome.kind === 'answer';
    const records = isAnswer ? recordsIn(body, v, only) : undefined;
    if (isAnswer && !records) return undefined;
    return {
      sequence,
      ...(head.by !== undefined && { writer: head.by }),
      kind: fromStoredKind(head.kind),
      view: head.view,
      sentAt: head.sentAt,
      // In another order than they were asked for, which says nothing.
      symbols: isAnswer ? [...(records?.keys() ?? []), ...outcome.unknown] : head.symbols,
      outcome: isAnswer ? { ...outcome, records: records ?? new Map() } : fromStoredOutcome(outcome),
      ...(sibling && { sibling }),
      ...(caller !== undefined && { caller }),
      ...(priority && { priority }),
      ...(head.isProbe && { isUnlistedProbe: true }),
      ...(namesUnknown && { namesUnknown }),
      ...(head.failedTests && { failedProbes: head.failedTests }),
      ...(head.unknown && { negative: head.unknown }),
      demand: Object.entries(head.asked).flatMap(([view, list]) =>
        chunksOf(list, 2).map(([symbol, times]) => [view, String(symbol), Number(times)] as const),
      ),
    };
  } catch {
    return undefined;
  }
}

/** A checkpoint in as many parts as it takes, none of more bytes than an item of the table holds. */
export function packCheckpoint(checkpoint: Checkpoint, maxItemBytes: number): readonly Uint8Array[] {
  const packed = compress(checkpointBytes(checkpoint));
  if (packed.length <= maxItemBytes || checkpoint.fetched.length < 2) return [packed];
  const [first, second] = halves(checkpoint.fetched);
  const nothing = { demand: [], negative: [], recent: [], failedProbes: [] };
  return [
    ...packCheckpoint({ ...checkpoint, fetched: first }, maxItemBytes),
    ...packCheckpoint({ ...checkpoint, ...nothing, fetched: second }, maxItemBytes),
  ];
}

function checkpointBytes(checkpoint: Checkpoint): Uint8Array {
  const { sequence, at, fetched, demand, negative, recent, failedProbes, forbidden, pause } = checkpoint;
  const bodies = fetched.map(({ records }) => toColumns([...records.values()]));
  const head: StoredCheckpoint = {
    v: version,
    turn: sequence,
    at,
    unknown: negative,
    past: recent.map(([when, kind, caller]) => [when, toStoredKind(kind), caller]),
    failedTests: failedProbes,
    denials: forbidden,
    pause,
    groups: fetched.map((group, index) => toStoredFetched(group, bodies[index]!.length)),
    demand: byView(
      demand.map(([view, symbol, times, requestedAt]) => [
        view,
        symbol,
        Math.round(10 * times) / 10,
        Math.round((at - requestedAt) / 1000),
      ]),
    ),
  };
  return headed(head, bodies);
}

const toStoredFetched = (
  { view, sentAt, isSuspect, namesUnknown }: Fetched,
  length: number,
): StoredFetched => ({ view, sentAt, isDoubtful: isSuspect, namesUnknown, length });

/**
 * @param only the one symbol that is needed: groups without it have no snapshots
 * @returns undefined for what is no part of a checkpoint of this version
 */
export function unpackCheckpoint(packed: Uint8Array, only?: string): Checkpoint | undefined {
  try {
    const { head, body } = cutHead<StoredCheckpoint>(packed);
    if (!isKnown(head.v)) return undefined;
    const { v, turn: sequence, at, unknown, past, failedTests, denials, pause, groups, demand } = head;
    return {
      sequence,
      at,
      negative: unknown,
      recent: past.map(([when, kind, caller]) => [when, fromStoredKind(kind), caller] as const),
      failedProbes: failedTests,
      ...(denials && { forbidden: denials }),
      ...(pause && { pause }),
      fetched: cutGroups(groups, body, v, only),
      demand: Object.entries(demand).flatMap(([view, list]) =>
        chunksOf(list, 3).map(
          ([symbol, times, seconds]) =>
            [view, String(symbol), Number(times), at - 1000 * Number(seconds)] as const,
        ),
      ),
    };
  } catch {
    return undefined;
  }
}

function cutGroups(
  groups: readonly StoredFetched[],
  body: Uint8Array,
  v: number,
  only: string | undefined,
): readonly Fetched[] {
  const fetched: Fetched[] = [];
  let at = 0;
  for (const { view, sentAt, isDoubtful, namesUnknown, length } of groups) {
    const records = recordsIn(body.subarray(at, at + length), v, only);
    at += length;
    if (!records) continue;
    const marks = { ...(isDoubtful && { isSuspect: isDoubtful }), ...(namesUnknown && { namesUnknown }) };
    fetched.push({ view, sentAt, ...marks, records });
  }
  return fetched;
}

const isKnown = (v: number) => v === version || v === withoutColumns;

/** By symbol; undefined for what the version's records are not. Cutting them is most of what reading one symbol would cost. */
function recordsIn(body: Uint8Array, v: number, only: string | undefined) {
  if (only !== undefined && !Buffer.from(body.buffer, body.byteOffset, body.length).includes(`"${only}"`))
    return new Map<string, Uint8Array>();
  return cutRecords(v === withoutColumns ? body : fromColumns(body));
}

/** The parts of the last checkpoint as one; of an older one that was larger, parts may be left. */
export function joinCheckpoint(parts: readonly Checkpoint[]): Checkpoint | undefined {
  const [first, ...others] = parts;
  if (!first) return undefined;
  const same = others.filter(({ sequence, at }) => sequence === first.sequence && at === first.at);
  return { ...first, fetched: [first, ...same].flatMap(({ fetched }) => fetched) };
}

type FlightHead = readonly [
  sequence: number,
  sinceFirst: number,
  view: string,
  fingerprints: number,
  caller?: string,
  isUnlistedProbe?: 0 | 1,
];

/** Fingerprints as 16-bit numbers: each poll reads the control item, which with a thousand symbols is below 4 kB. */
export function packFlights(flights: readonly Flight[]): Uint8Array {
  const first = flights[0]?.at ?? 0;
  const heads = flights.map(
    ({ sequence, at, view, fingerprints: { length }, caller, isUnlistedProbe }): FlightHead =>
      caller === undefined
        ? [sequence, at - first, view, length]
        : [sequence, at - first, view, length, caller, isUnlistedProbe ? 1 : 0],
  );
  const fingerprints = Uint16Array.from(flights.flatMap((flight) => flight.fingerprints));
  return Buffer.concat([
    Buffer.from(`${JSON.stringify([first, heads])}\n`),
    Buffer.from(fingerprints.buffer),
  ]);
}

/** @throws SyntaxError for what is not of this form */
export function unpackFlights(packed: Uint8Array): readonly Flight[] {
  const bytes = Buffer.from(packed);
  let at = bytes.indexOf(lineEnd) + 1;
  const [first, heads] = JSON.parse(bytes.subarray(0, at).toString()) as [number, readonly FlightHead[]];
  return heads.map(([sequence, since, view, count, caller, isUnlistedProbe]) => {
    const start = at;
    at += 2 * count;
    const fingerprints = Array.from({ length: count }, (_, index) => bytes.readUInt16LE(start + 2 * index));
    return {
      sequence,
      at: first + since,
      view,
      fingerprints,
      ...(caller !== undefined && { caller }),
      ...(isUnlistedProbe && { isUnlistedProbe: true as const }),
    };
  });
}

function headed(head: object, bodies: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...bodies]);
}

function cutHead<T>(packed: Uint8Array): { readonly head: T; readonly body: Uint8Array } {
  const bytes = decompress(packed, maxBytes);
  const end = bytes.indexOf(lineEnd);
  return { head: JSON.parse(bytes.subarray(0, end).toString()) as T, body: bytes.subarray(end + 1) };
}

/** One flat list for each view, in place of a tuple for each symbol. */
function byView(
  items: readonly (readonly [view: string, ...values: (string | number)[]])[],
): Readonly<Record<string, readonly (string | number)[]>> {
  const lists: Record<string, (string | number)[]> = {};
  for (const [view, ...values] of items) {
    const list = lists[view] ?? [];
    list.push(...values);
    lists[view] = list;
  }
  return lists;
}

/** Without what is left over at the end. */
function chunksOf<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let at = 0; at + size <= list.length; at += size) chunks.push(list.slice(at, at + size));
  return chunks;
}
