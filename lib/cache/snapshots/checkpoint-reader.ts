/** Reads a checkpoint of which a storm of instances reads one of several copies, and renews a copy that is too old. */

import { copyMs } from './options.ts';
import {
  checkpointCopies,
  type RefreshControl,
  type SnapshotCheckpoint,
  type SnapshotStore,
} from './store.ts';

/** A later time was written by a clock that is wrong. */
export const maxAheadMs = 15_000;
/** Of the instances that find their copy too old, one in this many writes it anew. */
const copyWriters = 4;
/** A copy that holds this part of the last checkpoint's records is as good. */
const sufficientPart = 0.998;

export class CheckpointReader {
  readonly #store: SnapshotStore;
  readonly #random: () => number;
  readonly #lookBack: number;
  readonly #onError: (error: unknown) => void;

  /** @param lookBack a checkpoint older than this many records is of no use */
  constructor(
    store: SnapshotStore,
    random: () => number,
    lookBack: number,
    onError: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#random = random;
    this.#lookBack = lookBack;
    this.#onError = onError;
  }

  /** Any copy in a storm; otherwise 0, the primary. */
  chooseCopy(isStorm: boolean): number {
    return isStorm ? 1 + Math.floor(this.#random() * checkpointCopies) : 0;
  }

  /** Undefined when there is none or it cannot be read: an instance does without, because it has the log. */
  read(copy: number): Promise<SnapshotCheckpoint | undefined> {
    return this.#store.readCheckpoint(copy).catch((error: unknown) => {
      this.#onError(error);
      return undefined;
    });
  }

  /** The checkpoint that was read if it is young enough, otherwise the primary; some of the readers then renew the copy. */
  async usableCheckpoint(
    found: SnapshotCheckpoint | undefined,
    copy: number,
    control: RefreshControl,
    now: number,
  ): Promise<SnapshotCheckpoint | undefined> {
    if (isUsable(found, copy, control, now, this.#lookBack)) return found;
    if (copy === 0) return undefined;
    const primary = await this.read(0);
    if (!primary || !isUsable(primary, 0, control, now, this.#lookBack)) return undefined;
    if (this.#random() < 1 / copyWriters) await this.#store.writeCheckpoint(copy, primary).catch(() => {});
    return primary;
  }
}

function isUsable(
  checkpoint: SnapshotCheckpoint | undefined,
  copy: number,
  { sequence, checkpoint: last }: RefreshControl,
  now: number,
  lookBack: number,
): boolean {
  if (!checkpoint || checkpoint.sequence < sequence - lookBack || checkpoint.sequence > sequence)
    return false;
  if (checkpoint.at > now + maxAheadMs) return false;
  if (copy === 0 || checkpoint.at >= last.at) return true;
  return now - checkpoint.at < copyMs && sizeOf(checkpoint) >= sufficientPart * last.records;
}

const sizeOf = ({ fetched }: SnapshotCheckpoint): number =>
  fetched.reduce((total, { records }) => total + records.size, 0);
