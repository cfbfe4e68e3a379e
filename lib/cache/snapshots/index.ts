/** Quotes that all instances share, and their ports. */

export { createDirectory, type ListingPage, type Listings, type SymbolDirectory } from './directory.ts';
export {
  createMemoryDirectoryStore,
  type Directory,
  type DirectoryDraft,
  type DirectoryStore,
  emptyDraft,
} from './directory-store.ts';
export { createMemorySnapshotStore } from './memory-store.ts';
export { defaultSnapshotOptions, type SnapshotOptions } from './options.ts';
export type {
  AskUpstream,
  RefreshPermit,
  RefreshPermitAnswer,
  RefreshPermits,
  RefreshPriority,
  UpstreamAnswer,
} from './ports.ts';
export {
  createSnapshotCache,
  type Snapshot,
  type SnapshotCache,
  type SnapshotCacheOptions,
  type SnapshotCall,
  type SnapshotOutcome,
} from './snapshot-cache.ts';
export {
  type Checkpoint,
  type Control,
  checkpointCopies,
  type Fetched,
  type Flight,
  missMs,
  noControl,
  type RefreshKind,
  type RefreshOutcome,
  type RefreshRecord,
  type SnapshotStore,
  type StoreNews,
  type UpstreamError,
} from './store.ts';
export { type View, viewOf } from './view.ts';
