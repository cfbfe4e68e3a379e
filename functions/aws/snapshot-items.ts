/**
 * Records of the refresh log, checkpoints and calls under way as bytes, and back. Reading them is most of what the
 * store costs and is paid for by 4 kB, writing by 1 kB: compressed, a hundred records are 7 kB instead of 62.
 */

import type {
  FetchedRecords,
  RefreshFlight,
  RefreshOutcome,
  RefreshRecord,
  SnapshotCheckpoint,
} from '../../lib/cache/snapshots/index.ts';
import { cutRecords } from '../../lib/cache/snapshots/records.ts';
import { halves } from '../../lib/kernel/bisect.ts';
import { compress, decompress } from './brotli.ts';
import { fromColumns, toColumns } from './snapshot-columns.ts';

/** Another one when the meaning of the bytes changes; those of another version are not read. */
const version = 3;
/** Far above any record, far below what would hurt. */
const maxBytes = 16 * 1024 * 1024;

const lineEnd = 0x0a;

type Answer = Extract<RefreshOutcome, { kind: 'answer' }>;

/** What stands before the snapshots of a log record: the record without them. */
interface RecordHead extends Omit<RefreshRecord, 'outcome'> {
  readonly v: number;
  readonly outcome: Omit<Answer, 'records'> | Exclude<RefreshOutcome, Answer>;
}

/** What stands before the snapshots of a checkpoint. */
interface CheckpointHead extends Omit<SnapshotCheckpoint, 'fetched'> {
  readonly v: number;
  /** Each with the length of its snapshots, in bytes. */
  readonly fetched: readonly (Omit<FetchedRecords, 'records'> & { readonly length: number })[];
}

/** The head is one line of JSON; the snapshots follow it, in columns. */
export function packRecord(record: RefreshRecord): Uint8Array {
  const { outcome } = record;
  if (outcome.kind !== 'answer') return headed({ v: version, ...record }, []);
  const { records, ...rest } = outcome;
  // The snapshots name theirs, and the outcome names those that were left out.
  const head: RecordHead = { v: version, ...record, symbols: [], outcome: rest };
  return headed(head, [toColumns([...records.values()])]);
}

/**
 * @param only the one symbol that is needed: without it, an answer has no snapshots
 * @returns undefined for what is no record of this version
 */
export function unpackRecord(packed: Uint8Array, only?: string): RefreshRecord | undefined {
  try {
    const { head, body } = cutHead<RecordHead>(packed);
    const { v, outcome, ...record } = head;
    if (v !== version) return undefined;
    if (outcome.kind !== 'answer') return { ...record, outcome };
    const records = recordsIn(body, only);
    // In another order than they were asked for, which says nothing.
    const symbols = [...(records?.keys() ?? []), ...outcome.unknown];
    return records && { ...record, symbols, outcome: { ...outcome, records } };
  } catch {
    return undefined;
  }
}

/** A checkpoint in as many parts as it takes, none of more bytes than an item of the table holds. */
export function packCheckpoint(checkpoint: SnapshotCheckpoint, maxItemBytes: number): readonly Uint8Array[] {
  const packed = checkpointBytes(checkpoint);
  if (packed.length <= maxItemBytes || checkpoint.fetched.length < 2) return [packed];
  const [first, second] = halves(checkpoint.fetched);
  const nothing = { demand: [], negative: [], recent: [], failedProbes: [] };
  return [
    ...packCheckpoint({ ...checkpoint, fetched: first }, maxItemBytes),
    ...packCheckpoint({ ...checkpoint, ...nothing, fetched: second }, maxItemBytes),
  ];
}

function checkpointBytes(checkpoint: SnapshotCheckpoint): Uint8Array {
  const { at, fetched, demand } = checkpoint;
  const bodies = fetched.map(({ records }) => toColumns([...records.values()]));
  const head: CheckpointHead = {
    v: version,
    ...checkpoint,
    fetched: fetched.map(({ records: _, ...group }, index) => ({ ...group, length: bodies[index]!.length })),
    // In seconds before the checkpoint: shorter by much where there are thousands of symbols.
    demand: demand.map(([view, symbol, times, requestedAt]) => [
      view,
      symbol,
      times,
      Math.round((at - requestedAt) / 1000),
    ]),
  };
  return headed(head, bodies);
}

/**
 * @param only the one symbol that is needed: groups without it have no snapshots
 * @returns undefined for what is no part of a checkpoint of this version
 */
export function unpackCheckpoint(packed: Uint8Array, only?: string): SnapshotCheckpoint | undefined {
  try {
    const { head, body } = cutHead<CheckpointHead>(packed);
    const { v, fetched, demand, ...checkpoint } = head;
    if (v !== version) return undefined;
    let end = 0;
    return {
      ...checkpoint,
      fetched: fetched.flatMap(({ length, ...group }) => {
        const start = end;
        end += length;
        const records = recordsIn(body.subarray(start, end), only);
        return records ? [{ ...group, records }] : [];
      }),
      demand: demand.map(
        ([view, symbol, times, seconds]) => [view, symbol, times, checkpoint.at - 1000 * seconds] as const,
      ),
    };
  } catch {
    return undefined;
  }
}

/** By symbol; undefined for what are no records. Cutting them is most of what reading one symbol would cost. */
function recordsIn(body: Uint8Array, only: string | undefined) {
  if (only !== undefined && !Buffer.from(body.buffer, body.byteOffset, body.length).includes(`"${only}"`))
    return new Map<string, Uint8Array>();
  return cutRecords(fromColumns(body));
}

/** The parts of the last checkpoint as one; of an older one that was larger, parts may be left. */
export function joinCheckpoint(parts: readonly SnapshotCheckpoint[]): SnapshotCheckpoint | undefined {
  const [first, ...others] = parts;
  if (!first) return undefined;
  const same = others.filter(({ sequence, at }) => sequence === first.sequence && at === first.at);
  return { ...first, fetched: [first, ...same].flatMap(({ fetched }) => fetched) };
}

/** Fingerprints as 16-bit numbers: each poll reads the control item, which with a thousand symbols is below 4 kB. */
export function packFlights(flights: readonly RefreshFlight[]): Uint8Array {
  const heads = flights.map((flight) => ({ ...flight, fingerprints: flight.fingerprints.length }));
  const fingerprints = Uint16Array.from(flights.flatMap((flight) => flight.fingerprints));
  return headed(heads, [Buffer.from(fingerprints.buffer)]);
}

/** @throws for what is not of this form */
export function unpackFlights(packed: Uint8Array): readonly RefreshFlight[] {
  const { head, body } =
    cutHead<readonly (Omit<RefreshFlight, 'fingerprints'> & { readonly fingerprints: number })[]>(packed);
  let at = 0;
  return head.map(({ fingerprints: length, ...flight }) => {
    const start = at;
    at += 2 * length;
    return {
      ...flight,
      fingerprints: Array.from({ length }, (_, index) => body.readUInt16LE(start + 2 * index)),
    };
  });
}

const headed = (head: object, bodies: readonly Uint8Array[]): Uint8Array =>
  compress(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...bodies]));

function cutHead<T>(packed: Uint8Array): { readonly head: T; readonly body: Buffer } {
  const bytes = decompress(packed, maxBytes);
  const end = bytes.indexOf(lineEnd);
  return { head: JSON.parse(bytes.subarray(0, end).toString()) as T, body: bytes.subarray(end + 1) };
}
