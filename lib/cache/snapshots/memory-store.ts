/** A quote store for one process: the local run, and tests. */

import {
  type Checkpoint,
  type Control,
  missMs,
  noControl,
  type RefreshRecord,
  type SnapshotStore,
} from './store.ts';

/** Far more turns than any instance looks back. */
const keptTurns = 1024;
const mostMisses = 500;

export function createMemorySnapshotStore(clock: () => number = Date.now): SnapshotStore {
  let control: Control = noControl;
  const entries = new Map<number, RefreshRecord>();
  const checkpoints = new Map<number, Checkpoint>();
  let misses: { readonly at: number; readonly keys: readonly string[] }[] = [];
  return {
    async read(after, missing) {
      const found: RefreshRecord[] = [];
      for (const turn of missing) {
        const entry = entries.get(turn);
        if (entry && (after === undefined || turn <= after)) found.push(entry);
      }
      if (after !== undefined)
        for (let turn = Math.max(after + 1, control.turn - keptTurns); turn <= control.turn; turn++) {
          const entry = entries.get(turn);
          if (entry) found.push(entry);
        }
      return { control, entries: found };
    },
    async take(next, after) {
      if (control.turn !== after) return { taken: false, control };
      control = next;
      return { taken: true };
    },
    async write(entry) {
      entries.set(entry.turn, entry);
      entries.delete(entry.turn - keptTurns);
    },
    /** One process has room for all that wait: nothing is occupied by it. */
    async countStart() {
      return 1;
    },
    async readCheckpoint(copy) {
      return checkpoints.get(copy);
    },
    async writeCheckpoint(copy, checkpoint) {
      checkpoints.set(copy, checkpoint);
    },
    async tellMisses(keys) {
      misses = [...misses.slice(1 - mostMisses), { at: clock(), keys }];
    },
    async readMisses() {
      const since = clock() - missMs;
      misses = misses.filter(({ at }) => at > since);
      return [...new Set(misses.flatMap(({ keys }) => keys))];
    },
  };
}
