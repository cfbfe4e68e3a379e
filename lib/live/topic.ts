/** State of one followed symbol of a view in this process. */

import type { View } from '../cache/snapshots/index.ts';
import type { Version } from './version.ts';

/**
 * - `current`: the record is not older than the soft bound.
 * - `stale`: the record is older; the upstream could not be asked meanwhile.
 * - `unknown`: the upstream does not know the symbol.
 * - `missing`: there is no record that may be served.
 */
export type ToldState = 'current' | 'stale' | 'unknown' | 'missing';

/** A stream that follows topics. */
export interface TopicFollower {
  /** Marks a topic whose change the stream has to send. */
  mark(topic: Topic): void;
}

export interface Topic {
  readonly view: View;
  readonly symbol: string;
  version: Version | undefined;
  /** Time at which the upstream was last seen to have this version, in milliseconds since the epoch. */
  at: number;
  /** Record of the last look at the cache; it may be another copy of the version's record. */
  seen: Uint8Array | undefined;
  state: ToldState;
  /** Whether a request to the upstream may bring a record that no instance has. */
  isWanted: boolean;
  readonly streams: Set<TopicFollower>;
}
