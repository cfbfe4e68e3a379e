/** The cache of a deployed function: all functions on the same table share it. */

import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import type { CacheOptions } from '../../lib/gateway/cache-options.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoDirectoryStore } from './dynamo-directory-store.ts';
import { createDynamoResponseStore } from './dynamo-response-store.ts';
import { createDynamoSnapshotStore } from './dynamo-snapshot-store.ts';
import type { CacheSettings } from './environment.ts';
import { storePartition, upstreamPartition } from './snapshot-keys.ts';

/**
 * @param upstreamBaseUrl part of every key: no upstream's answer is ever returned as another's
 * @param listing present when snapshots are among the function's operations
 */
export function createDeployedCache(
  { tableName, tuning }: CacheSettings,
  client: DynamoSender,
  upstreamBaseUrl: string,
  listing: SymbolListing | undefined,
): CacheOptions {
  const store = {
    client,
    tableName,
    partition: upstreamPartition(upstreamBaseUrl),
  };
  return {
    snapshots: (partition) =>
      createDynamoSnapshotStore({ ...store, partition: storePartition(upstreamBaseUrl, partition) }),
    // A response's key contains its account.
    responses: createDynamoResponseStore(store),
    // The same symbols exist for all accounts.
    ...(listing && { directory: { store: createDynamoDirectoryStore(store), listing } }),
    tuning,
  };
}
