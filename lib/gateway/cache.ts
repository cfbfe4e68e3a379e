/** The gateway's cache: shares answers between equal requests, by request or by symbol, and keeps account data apart. */

import { isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { createAccountReads } from './account-reads.ts';
import type { AdmittedRequest } from './admit.ts';
import type { CachedReads, CacheOptions, CacheParts, CacheWiring } from './cache-options.ts';
import { createCachedResponses } from './cached-responses.ts';
import { CachedSnapshots, createSnapshotsByAccount } from './snapshots/by-account.ts';

export interface Cache {
  /** Undefined for an operation that is not cached. */
  readsOf(operation: Operation): CachedReads | undefined;
  /** Called after a request with a side effect that may have taken effect. Never rejects. */
  changed(change: AdmittedRequest): Promise<void>;
}

/** Creates the step `cached?` from the gateway's parts. */
export type CacheStep = (parts: CacheParts) => Cache;

/** Creates the reads of an operation when the first request for it comes. */
export function readsByOperation(
  create: (operation: Operation) => CachedReads,
): (operation: Operation) => CachedReads {
  const created = new Map<Operation, CachedReads>();
  return (operation) => {
    const reads = created.get(operation) ?? create(operation);
    created.set(operation, reads);
    return reads;
  };
}

export type ResponsesWiring = Pick<CacheWiring, 'responses' | 'versions' | 'tuning'>;

/** Caches whole answers by request; does not cache operations that are shared by symbol. */
export const responsesStep =
  (options: OptionsOf<ResponsesWiring, 'responses'>): CacheStep =>
  (parts) => {
    const responses = createCachedResponses(options, parts);
    const accounts = createAccountReads(options, parts);
    return {
      changed: accounts.changed,
      readsOf({ freshness, sideEffect, group }) {
        // A side effect is never answered from the cache, whatever its catalogue entry says.
        if (!freshness || sideEffect || freshness === 'by-symbol') return undefined;
        return isAccountData(group) ? accounts : responses;
      },
    };
  };

/** Caches whole answers by request, and snapshots by symbol. */
export const cacheStep =
  (options: CacheOptions): CacheStep =>
  (parts) => {
    const responses = responsesStep(options)(parts);
    const snapshotsOf = readsByOperation((operation) =>
      createSnapshotsByAccount(
        operation,
        options,
        parts,
        (own) => new CachedSnapshots(operation, own, parts),
      ),
    );
    return {
      changed: responses.changed,
      readsOf(operation) {
        const isBySymbol = operation.freshness === 'by-symbol' && !operation.sideEffect;
        return isBySymbol ? snapshotsOf(operation) : responses.readsOf(operation);
      },
    };
  };
