/** A snapshot store for one process: the local run, and tests. */

import {
  missMs,
  noControl,
  type RefreshControl,
  type RefreshRecord,
  type SnapshotCheckpoint,
  type SnapshotStore,
} from './store.ts';

/** Far more records than any instance looks back. */
const maxRecords = 1024;
const maxMisses = 500;

export function createMemorySnapshotStore(clock: () => number = Date.now): SnapshotStore {
  let control: RefreshControl = noControl;
  const log = new Map<number, RefreshRecord>();
  const checkpoints = new Map<number, SnapshotCheckpoint>();
  let misses: { readonly at: number; readonly keys: readonly string[] }[] = [];
  return {
    async read(after, missing) {
      const records: RefreshRecord[] = [];
      for (const sequence of missing) {
        const record = log.get(sequence);
        if (record && (after === undefined || sequence <= after)) records.push(record);
      }
      if (after !== undefined) {
        const first = Math.max(after + 1, control.sequence - maxRecords);
        for (let sequence = first; sequence <= control.sequence; sequence++) {
          const record = log.get(sequence);
          if (record) records.push(record);
        }
      }
      return { control, records };
    },
    async acquire(next, after) {
      if (control.sequence !== after) return { acquired: false, control };
      control = next;
      return { acquired: true };
    },
    async write(record) {
      log.set(record.sequence, record);
      log.delete(record.sequence - maxRecords);
    },
    /** One process has room for all requests that wait: none of them occupies an instance. */
    async countStart() {
      return 1;
    },
    async readCheckpoint(copy) {
      return checkpoints.get(copy);
    },
    async writeCheckpoint(copy, checkpoint) {
      checkpoints.set(copy, checkpoint);
    },
    async writeMisses(keys) {
      misses = [...misses.slice(1 - maxMisses), { at: clock(), keys }];
    },
    async readMisses() {
      const since = clock() - missMs;
      misses = misses.filter(({ at }) => at > since);
      return [...new Set(misses.flatMap(({ keys }) => keys))];
    },
  };
}
