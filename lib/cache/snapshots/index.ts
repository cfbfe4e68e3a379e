/**
 * The cache of snapshots that all instances share, and its ports.
 *
 * A request passes snapshot-cache → snapshot-request → read, and on a miss miss-resolver → refresh → refresh-lease →
 * refresh-call. What other instances did comes through refresh-log into memory, which holds view-entries,
 * symbol-status, upstream-status and invalid-symbol-quota. plan-refresh and plan-probe decide what a call asks for.
 */

export { demandWeight } from './demand-share.ts';
export { type Listings, SymbolDirectory } from './directory.ts';
export type { ListingPage } from './directory-draft.ts';
export {
  createMemoryDirectoryStore,
  type DirectoryDraft,
  type DirectoryStore,
  emptyDraft,
  type SymbolLists,
} from './directory-store.ts';
export { FollowedSnapshots, type Look } from './followed.ts';
export { createMemorySnapshotStore } from './memory-store.ts';
export { createMemoryStreamedLog } from './memory-streamed-log.ts';
export { defaultSnapshotOptions, type SnapshotOptions } from './options.ts';
export type {
  AskUpstream,
  RefreshPermitAnswer,
  RefreshPermits,
  UpstreamAnswer,
} from './ports.ts';
export {
  createSnapshotCache,
  type ServedSnapshot,
  type SnapshotCache,
  type SnapshotCacheOptions,
  type SnapshotCall,
  type SnapshotOutcome,
} from './snapshot-cache.ts';
export {
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
  type CarriedSymbols,
  type StreamedBatch,
  type StreamedChange,
  type StreamedLog,
  wholeEveryMs,
} from './streamed.ts';
export type { UpstreamError } from './upstream-error.ts';
export { type View, viewOf } from './view.ts';
export { WatchedSnapshots, type WatchedSymbol } from './watched.ts';
