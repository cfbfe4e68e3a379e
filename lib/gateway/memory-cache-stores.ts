/** The cache's stores in memory: for the local run, and for tests. */

import { createMemoryResponseStore } from '../cache/responses/index.ts';
import {
  createMemoryDirectoryStore,
  createMemorySnapshotStore,
  type SnapshotStore,
} from '../cache/snapshots/index.ts';
import { symbolListing } from '../catalogue/symbol-listing.ts';
import type { CacheOptions } from './cache-options.ts';

/**
 * @example
 * const gateway = createGateway({ operations, upstreamBaseUrl, secrets, cache: createMemoryCacheStores() });
 */
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
