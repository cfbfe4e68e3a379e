/** Stores of what all callers share for one process: the local run, and tests. */

import { createMemoryResponseStore } from '../cache/responses/index.ts';
import {
  createMemoryDirectoryStore,
  createMemorySnapshotStore,
  type SnapshotStore,
} from '../cache/snapshots/index.ts';
import { symbolListing } from '../catalogue/symbol-listing.ts';
import type { CacheOptions } from './cache-options.ts';

export function createMemoryCacheStores(): Pick<CacheOptions, 'snapshots' | 'responses' | 'directory'> {
  const stores = new Map<string, SnapshotStore>();
  return {
    snapshots(account) {
      const store = stores.get(account) ?? createMemorySnapshotStore();
      stores.set(account, store);
      return store;
    },
    responses: createMemoryResponseStore(),
    directory: { store: createMemoryDirectoryStore(), listing: symbolListing },
  };
}
