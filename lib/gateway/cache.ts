/** The gateway's cache: reads whose answer serves equal requests, by request or by symbol; of accounts apart. */

import { isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import { createAccountReads } from './account-reads.ts';
import type { CachedRead, CacheOptions, CacheParts } from './cache-options.ts';
import { createCachedResponses } from './cached-responses.ts';
import type { Outcome } from './outcome.ts';
import { createSnapshotsByAccount, type SnapshotsByAccount } from './snapshots-by-account.ts';

export interface Cache {
  /** Undefined for an operation that is not cached. */
  ask(read: CachedRead): Promise<Outcome> | undefined;
  /** After a request with a side effect that may have had it. Never rejects. */
  changed(change: CachedRead): Promise<void>;
}

export function createCache(options: CacheOptions, parts: CacheParts): Cache {
  const responses = createCachedResponses(options, parts);
  const accounts = createAccountReads(options, parts);
  const snapshots = new Map<string, SnapshotsByAccount>();

  function snapshotsOf(operation: Operation): SnapshotsByAccount {
    const existing = snapshots.get(operation.id) ?? createSnapshotsByAccount(operation, options, parts);
    snapshots.set(operation.id, existing);
    return existing;
  }

  return {
    changed: accounts.changed,
    ask(read) {
      const { operation } = read.route;
      const { freshness } = operation;
      // A side effect is never answered from the cache, whatever its catalogue entry says.
      if (!freshness || operation.sideEffect) return undefined;
      if (freshness === 'by-symbol') return snapshotsOf(operation).ask(read);
      return (isAccountData(operation.group) ? accounts : responses).ask(read, freshness);
    },
  };
}
