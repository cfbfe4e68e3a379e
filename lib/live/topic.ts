/** One symbol of a view that streams follow, as it is known in this process. */

import type { View } from '../cache/snapshots/index.ts';
import type { Version } from './version.ts';

/**
 * - `current`: the record is not older than the soft bound.
 * - `stale`: it is; the upstream could not be asked meanwhile.
 * - `unknown`: the upstream does not know the symbol.
 * - `missing`: there is no record that may be served.
 */
export type ToldState = 'current' | 'stale' | 'unknown' | 'missing';

/** A stream, as its symbols know it. */
export interface Marked {
  /** Something is to be told of a symbol. */
  mark(topic: Topic): void;
}

export interface Topic {
  readonly view: View;
  readonly symbol: string;
  version: Version | undefined;
  /** When the version was last seen to be the upstream's, in milliseconds since the epoch. */
  at: number;
  /** The record that was looked at last, which may be another copy of the version's. */
  seen: Uint8Array | undefined;
  state: ToldState;
  /** Whether asking the upstream may bring a record that nobody has. */
  isWanted: boolean;
  readonly streams: Set<Marked>;
}
