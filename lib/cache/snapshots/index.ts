/**
 * The cache of snapshots that all instances share, and its ports.
 *
 * A request reads memory, and on a miss polls the refresh log, refreshes or waits. A refresh plans a call, acquires a
 * lease, asks the upstream and writes a record of the outcome. The refresh log brings what other instances did into
 * memory, which holds entries, the status of each symbol, and how upstream and callers do.
 */

export {
  createMemoryDirectoryStore,
  type DirectoryDraft,
  type DirectoryStore,
  emptyDraft,
  type Listings,
  type SymbolLists,
} from './directory.ts';
export { demandWeight } from './fairness.ts';
export type { SnapshotCacheOptions } from './instance.ts';
export {
  type AskUpstream,
  defaultSnapshotOptions,
  type RefreshAnswer,
  type RefreshPermitAnswer,
  type RefreshPermits,
  type SnapshotOptions,
  type UpstreamError,
  upstreamTimeoutMs,
} from './ports.ts';
export type { ServedSnapshot, SnapshotOutcome } from './request.ts';
export {
  createSnapshotCache,
  FollowedSnapshots,
  type Look,
  type SnapshotCache,
  WatchedSnapshots,
} from './snapshot-cache.ts';
export {
  createMemorySnapshotStore,
  type FetchedRecords,
  type LeaseAnswer,
  missMs,
  noControl,
  type RefreshControl,
  type RefreshFlight,
  type RefreshKind,
  type RefreshLogUpdate,
  type RefreshOutcome,
  type RefreshRecord,
  type SnapshotCheckpoint,
  type SnapshotStore,
  snapshotPartition,
} from './store.ts';
export {
  beginMs,
  createMemoryStreamedLog,
  type StreamedBatch,
  type StreamedChange,
  type StreamedLog,
  wholeEveryMs,
} from './streamed.ts';
export { type View, viewOf } from './view.ts';
