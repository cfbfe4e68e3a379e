/** Reads whose answer is the same for every caller, answered out of what one of them asked for. */

import type { Operation } from '../../catalogue/operation.ts';
import type { Refusal } from '../../problem.ts';
import type { RequestContext } from '../context.ts';
import type { Credential } from '../credentials.ts';
import type { GatewayRequest, GatewayResponse } from '../http.ts';
import type { ValidRequest } from '../validate.ts';
import type { CacheOptions, CacheParts } from './ports.ts';
import { createCachedResponses } from './responses.ts';
import { createSnapshotsByAccount, type SnapshotsByAccount } from './snapshots-by-account.ts';

export { createMemoryCacheStores } from './memory-stores.ts';
export type { CacheFigures, CacheOptions, RefreshReport } from './ports.ts';

export interface Cache {
  /** Undefined for an operation that shares nothing. */
  answer(
    call: { readonly operation: Operation; readonly path: string },
    request: GatewayRequest,
    checked: ValidRequest,
    identity: Credential,
    trail: RequestContext,
  ): Promise<GatewayResponse | Refusal> | undefined;
}

export function createCache(options: CacheOptions, parts: CacheParts): Cache {
  const answers = createCachedResponses(options, parts);
  const quotes = new Map<string, SnapshotsByAccount>();

  function quotesOf(operation: Operation): SnapshotsByAccount {
    const known = quotes.get(operation.id) ?? createSnapshotsByAccount(operation, options, parts);
    quotes.set(operation.id, known);
    return known;
  }

  return {
    answer({ operation, path }, request, checked, identity, trail) {
      const { freshness } = operation;
      // What changes something is never answered out of a memory, whatever its entry says.
      if (!freshness || operation.sideEffect) return undefined;
      if (freshness === 'by-symbol') return quotesOf(operation).answer(request, checked, identity, trail);
      return answers.answer({ ...operation, freshness }, path, request, checked, identity, trail);
    },
  };
}
