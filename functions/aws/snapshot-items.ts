/**
 * Converts records of the refresh log, checkpoints and calls under way to bytes and back. Reading them is most of the
 * store's cost. DynamoDB charges reads by 4 kB and writes by 1 kB; compressed, a hundred records are 7 kB instead of 62.
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

/** Version of the bytes, raised when their meaning changes; items of another version are not read. */
const version = 3;
/** Largest unpacked content: far above any record, far below a size that would hurt. */
const maxBytes = 16 * 1024 * 1024;

const lineEnd = 0x0a;

type Answer = Extract<RefreshOutcome, { kind: 'answer' }>;

/** Head of a log record, before its snapshots: the record without them. */
interface RecordHead extends Omit<RefreshRecord, 'outcome'> {
  readonly v: number;
  readonly outcome: Omit<Answer, 'records'> | Exclude<RefreshOutcome, Answer>;
}

/** Head of a checkpoint, before its snapshots. */
interface CheckpointHead extends Omit<SnapshotCheckpoint, 'fetched'> {
  readonly v: number;
  /** Fetched groups, each with the length of its snapshots in bytes. */
  readonly fetched: readonly (Omit<FetchedRecords, 'records'> & { readonly length: number })[];
}

/** Packs a record: a head of one line of JSON, followed by the snapshots in columns. */
export function packRecord(record: RefreshRecord): Uint8Array {
  const { outcome } = record;
  if (outcome.kind !== 'answer') return headed({ v: version, ...record }, []);
  const { records, ...rest } = outcome;
  // The snapshots contain their symbols, and the outcome names those without one, so the head omits them.
  const head: RecordHead = { v: version, ...record, symbols: [], outcome: rest };
  return headed(head, [toColumns([...records.values()])]);
}

/**
 * @param only the one symbol that is needed; an answer that lacks it has no snapshots
 * @returns undefined for bytes that are no record of this version
 */
export function unpackRecord(packed: Uint8Array, only?: string): RefreshRecord | undefined {
  try {
    const { head, body } = cutHead<RecordHead>(packed);
    const { v, outcome, ...record } = head;
    if (v !== version) return undefined;
    if (outcome.kind !== 'answer') return { ...record, outcome };
    const records = recordsIn(body, only);
    // The symbols are in another order than they were requested, which has no meaning.
    const symbols = [...(records?.keys() ?? []), ...outcome.unknown];
    return records && { ...record, symbols, outcome: { ...outcome, records } };
  } catch {
    return undefined;
  }
}

/** Packs a checkpoint into parts, none with more bytes than an item of the table holds. */
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
    // Times are written as seconds before the checkpoint, which is much shorter for thousands of symbols.
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
 * @param only the one symbol that is needed; groups that lack it have no snapshots
 * @returns undefined for bytes that are no part of a checkpoint of this version
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

/** Records by symbol; undefined for other bytes. If only one symbol is needed, answers without it are not cut, which is slow. */
function recordsIn(body: Uint8Array, only: string | undefined) {
  if (only !== undefined && !Buffer.from(body.buffer, body.byteOffset, body.length).includes(`"${only}"`))
    return new Map<string, Uint8Array>();
  return cutRecords(fromColumns(body));
}

/** Joins the parts of the last checkpoint; ignores parts that an older, larger one left behind. */
export function joinCheckpoint(parts: readonly SnapshotCheckpoint[]): SnapshotCheckpoint | undefined {
  const [first, ...others] = parts;
  if (!first) return undefined;
  const same = others.filter(({ sequence, at }) => sequence === first.sequence && at === first.at);
  return { ...first, fetched: [first, ...same].flatMap(({ fetched }) => fetched) };
}

/** Packs fingerprints as 16-bit numbers: each poll reads the control item, which stays below 4 kB with a thousand symbols. */
export function packFlights(flights: readonly RefreshFlight[]): Uint8Array {
  const heads = flights.map((flight) => ({ ...flight, fingerprints: flight.fingerprints.length }));
  const fingerprints = Uint16Array.from(flights.flatMap((flight) => flight.fingerprints));
  return headed(heads, [Buffer.from(fingerprints.buffer)]);
}

/** @throws for bytes that are not of this form */
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
