/**
 * Reads of shared snapshots for a function that serves none: the last checkpoint, and records of the refresh log. It needs
 * only BatchGetItem on the table. The reads may be some milliseconds behind.
 */

import type { SnapshotReads } from '../../lib/cache/snapshots/one-symbol.ts';
import { type SharedStoreOptions, withLimit } from './dynamo-client.ts';
import { type Item, readOnce } from './dynamo-items.ts';
import { joinCheckpoint, unpackCheckpoint, unpackRecord } from './snapshot-items.ts';
import { controlKey, logKey, partKey, recordKey, shardKey } from './snapshot-keys.ts';

/** Most parts of a checkpoint: 20,000 symbols of 70 bytes each are four items. Reading a missing part takes no time. */
const maxParts = 4;

/** @example const reads = createDynamoSnapshotReads({ client, tableName, partition: storePartition(baseUrl, partition) }); */
export function createDynamoSnapshotReads({
  client,
  tableName,
  partition,
  // An order waits for the read.
  timeoutMs = 300,
}: SharedStoreOptions): SnapshotReads {
  const sender = withLimit(client, { timeoutMs });
  const log = logKey(partition);
  const checkpoint = shardKey(partition, 'checkpoint', 0);

  /** Reads items in the order of their sort keys. Items that a throttling service leaves out count as absent. */
  async function read(keys: readonly (readonly [pk: string, sk: string])[]): Promise<readonly Item[]> {
    const wanted = keys.map(([pk, sk]) => ({ pk, sk }));
    const { items } = await readOnce(sender, tableName, wanted);
    return items.toSorted((a, b) => (skOf(a) < skOf(b) ? -1 : 1));
  }

  return {
    async last(symbol) {
      const parts = Array.from({ length: maxParts }, (_, index) => [checkpoint, partKey(index)] as const);
      const items = await read([[log, controlKey], ...parts]);
      const control = items.find((item) => skOf(item) === controlKey);
      // The first part shows to which checkpoint the others belong.
      const hasFirst = items.some((item) => skOf(item) === partKey(0));
      const known = items.flatMap(({ part }) => (part?.B && unpackCheckpoint(part.B, symbol)) ?? []);
      return {
        sequence: sequenceOf(control?.turn?.N),
        checkpoint: hasFirst ? joinCheckpoint(known) : undefined,
      };
    },
    async records(sequences, symbol) {
      const items = await read(sequences.map((sequence) => [log, recordKey(sequence)] as const));
      return items.flatMap(({ entry }) => (entry?.B && unpackRecord(entry.B, symbol)) ?? []);
    },
  };
}

const skOf = ({ sk }: Item): string => sk?.S ?? '';

const sequenceOf = (text = '0'): number => {
  const sequence = Number(text);
  return Number.isSafeInteger(sequence) ? sequence : 0;
};
