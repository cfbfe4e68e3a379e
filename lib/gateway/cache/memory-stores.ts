/** Stores of what all callers share for one process: the local run, and tests. */

import { createMemoryResponseStore } from '../../cache/responses/index.ts';
import {
  createMemoryDirectoryStore,
  createMemorySnapshotStore,
  type SnapshotStore,
} from '../../cache/snapshots/index.ts';
import { symbolListing } from '../../catalogue/symbol-listing.ts';
import type { CacheOptions } from './ports.ts';

export function createMemoryCacheStores(): Pick<CacheOptions, 'quotes' | 'answers' | 'directory'> {
  const stores = new Map<string, SnapshotStore>();
  return {
    quotes(account) {
      const store = stores.get(account) ?? createMemorySnapshotStore();
      stores.set(account, store);
      return store;
    },
    answers: createMemoryResponseStore(),
    directory: { store: createMemoryDirectoryStore(), listing: symbolListing },
  };
}
