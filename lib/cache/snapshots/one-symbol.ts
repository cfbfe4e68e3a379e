/**
 * Reads the shared record of one symbol, for a function that serves no snapshots. It takes no part in the cache:
 * it acquires no lease, and the refreshes of others do not depend on it.
 */

import type { FetchedRecords, RefreshRecord, SnapshotCheckpoint, SnapshotStore } from './store.ts';
import { viewOfId } from './view.ts';

/**
 * Port: the part of the store that a reader of one symbol needs. Rejects when the store cannot be asked, and never
 * hangs. Snapshots of other symbols may be left out.
 */
export interface SnapshotReads {
  /** The number of the last refresh lease, 0 before the first, and the primary checkpoint. */
  last(symbol: string): Promise<LastSnapshots>;
  /** The records that exist, in any order. */
  records(sequences: readonly number[], symbol: string): Promise<readonly RefreshRecord[]>;
}

interface LastSnapshots {
  readonly sequence: number;
  readonly checkpoint: Pick<SnapshotCheckpoint, 'sequence' | 'fetched'> | undefined;
}

interface SymbolQuestion {
  readonly symbol: string;
  /** Views of these count, with any flags. */
  readonly categories: readonly string[];
  /** When the record may have been fetched, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

interface SymbolRecord {
  /** The upstream's own bytes. */
  readonly record: Uint8Array;
  /** Just before the upstream was asked, in milliseconds since the epoch. */
  readonly sentAt: number;
}

/** Records that are read at once: with one refresh in 206 ms those of three seconds, in which a symbol in demand comes. */
const atOnce = 16;
/** How many records it looks back at most: a checkpoint is written after 40 refreshes. */
const lookBack = 64;

/**
 * The record in the last checkpoint, and where that is too old the latest one in the refresh log since.
 *
 * @returns undefined when there is none of that time
 * @throws the store's error
 *
 * @example
 * const reads = snapshotReadsOf(store);
 * const now = Date.now();
 * await recordOfSymbol(reads, { symbol: 'AAPL', categories: ['US_STOCK'], since: now - 15_000, until: now });
 */
export async function recordOfSymbol(
  reads: SnapshotReads,
  question: SymbolQuestion,
): Promise<SymbolRecord | undefined> {
  const { symbol } = question;
  const { sequence, checkpoint } = await reads.last(symbol);
  const found = latestIn(checkpoint?.fetched ?? [], question);
  if (found) return found;
  const inCheckpoint = checkpoint && checkpoint.sequence <= sequence ? checkpoint.sequence : 0;
  const oldest = Math.max(inCheckpoint, sequence - lookBack) + 1;
  for (let newest = sequence; newest >= oldest; newest -= atOnce) {
    const length = Math.min(atOnce, newest - oldest + 1);
    const sequences = Array.from({ length }, (_, index) => newest - index);
    const records = await reads.records(sequences, symbol);
    const latest = latestIn(records.flatMap(fetchedBy), question);
    if (latest) return latest;
    // Older records were fetched earlier still: a record is late by the time of a call at most.
    if (!records.some(({ sentAt }) => sentAt >= question.since)) return undefined;
  }
  return undefined;
}

/** Reads of one symbol over a store that the cache itself uses. */
export const snapshotReadsOf = (store: Pick<SnapshotStore, 'read' | 'readCheckpoint'>): SnapshotReads => ({
  async last() {
    const [checkpoint, { control }] = await Promise.all([store.readCheckpoint(0), store.read(undefined, [])]);
    return { sequence: control.sequence, checkpoint };
  },
  records: async (sequences) => (await store.read(undefined, sequences)).records,
});

const fetchedBy = ({ view, sentAt, outcome }: RefreshRecord): readonly FetchedRecords[] =>
  outcome.kind === 'answer' ? [{ view, sentAt, records: outcome.records }] : [];

function latestIn(
  fetched: readonly FetchedRecords[],
  { symbol, categories, since, until }: SymbolQuestion,
): SymbolRecord | undefined {
  let latest: SymbolRecord | undefined;
  for (const { view, sentAt, records } of fetched) {
    const record = records.get(symbol);
    if (!record || sentAt < since || sentAt > until || sentAt <= (latest?.sentAt ?? 0)) continue;
    if (categories.includes(viewOfId(view).category)) latest = { record, sentAt };
  }
  return latest;
}
