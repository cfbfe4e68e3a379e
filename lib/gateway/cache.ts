/** The gateway's cache: shares answers between equal requests, by request or by symbol, and keeps account data apart. */

import { isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { createAccountReads } from './account-reads.ts';
import type { AdmittedRequest, CacheOptions, CacheParts, CacheWiring } from './cache-options.ts';
import { createCachedResponses } from './cached-responses.ts';
import { CachedSnapshots } from './cached-snapshots.ts';
import type { Outcome } from './outcome.ts';
import { createSnapshotsByAccount, type SnapshotsByAccount } from './snapshots-by-account.ts';

export interface Cache {
  /** Undefined for an operation that is not cached. */
  ask(read: AdmittedRequest): Promise<Outcome> | undefined;
  /** Called after a request with a side effect that may have taken effect. Never rejects. */
  changed(change: AdmittedRequest): Promise<void>;
}

/** Creates the step `cached?` from the gateway's parts. */
export type CacheStep = (parts: CacheParts) => Cache;

export type ResponsesWiring = Pick<CacheWiring, 'responses' | 'versions' | 'tuning'>;

/** Caches whole answers by request; does not cache operations that are shared by symbol. */
export const responsesStep =
  (options: OptionsOf<ResponsesWiring, 'responses'>): CacheStep =>
  (parts) => {
    const responses = createCachedResponses(options, parts);
    const accounts = createAccountReads(options, parts);
    return {
      changed: accounts.changed,
      ask(read) {
        const { freshness, sideEffect, group } = read.route.operation;
        // A side effect is never answered from the cache, whatever its catalogue entry says.
        if (!freshness || sideEffect || freshness === 'by-symbol') return undefined;
        return (isAccountData(group) ? accounts : responses).ask(read, freshness);
      },
    };
  };

/** Caches whole answers by request, and snapshots by symbol. */
export const cacheStep =
  (options: CacheOptions): CacheStep =>
  (parts) => {
    const responses = responsesStep(options)(parts);
    const snapshots = new Map<string, SnapshotsByAccount>();
    function snapshotsOf(operation: Operation): SnapshotsByAccount {
      const existing =
        snapshots.get(operation.id) ??
        createSnapshotsByAccount(
          operation,
          options,
          parts,
          (own) => new CachedSnapshots(operation, own, parts),
        );
      snapshots.set(operation.id, existing);
      return existing;
    }
    return {
      changed: responses.changed,
      ask(read) {
        const { operation } = read.route;
        const isBySymbol = operation.freshness === 'by-symbol' && !operation.sideEffect;
        return isBySymbol ? snapshotsOf(operation).ask(read) : responses.ask(read);
      },
    };
  };
