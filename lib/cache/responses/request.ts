/** A request to the response cache: its key, how long its response is fresh, and which cached responses satisfy it. */

import type { Freshness } from '../../catalogue/freshness.ts';
import type { Caller } from '../../identity/caller.ts';
import { ageMsOf } from '../../kernel/age.ts';
import { putLatest } from '../../kernel/bounded-map.ts';
import { sha256Hex } from '../../kernel/key-text.ts';
import type { ResponseContent, StoredResponse } from './store.ts';

export interface MissLimit {
  readonly name?: string;
  readonly size: number;
}

export interface ResponseCall {
  /** Made by `responseKey`. */
  readonly key: string;
  readonly freshness: FreshnessMs;
  /** Refreshes count against the unit, misses against the member first. */
  readonly caller: Caller;
  /**
   * Upstream limits that a miss counts against, the narrowest first. The limit without a name is the one for most misses;
   * another one has a name, and `size` is its share of the first. Default: the one without a name. If the list is empty,
   * no caller comes before another.
   */
  readonly limits?: readonly MissLimit[];
  /**
   * Fetches from the upstream: permit, signature, request, answer. Never rejects.
   *
   * @param isOverQuota whether all other callers come before this one
   */
  readonly fetch: (isOverQuota: boolean) => Promise<FetchedResponse>;
  /** Longest duration of `fetch`, in milliseconds. */
  readonly fetchMs: number;
  readonly maxAgeMs?: number | undefined;
  readonly maxStaleMs?: number | undefined;
  readonly onlyIfCached?: true;
  /** Time at which the client stops waiting, by the cache's clock. */
  readonly deadline?: number;
}

/**
 * Result of `fetch`. `isPrivate`: no other request may receive it, because the fetching request ran out of time, or because
 * the response belongs to another account. `askedAt`: when the request was sent, if it had to wait; default: when `fetch`
 * was called.
 */
export type FetchedResponse = ResponseContent & { readonly isPrivate?: true; readonly askedAt?: number };

/** Time for which a refusal answers further requests. */
export const refusalMs = 1500;

export const withoutMaxAge = ({ maxAgeMs: _, ...call }: ResponseCall): ResponseCall => call;

/** Whether the response is cached. One that is never fresh serves only the requests that arrive while it is fetched. */
export const isCached = ({ freshness: { freshMs, staleMs } }: ResponseCall): boolean => freshMs + staleMs > 0;

/** @param minMaxAgeMs the smallest `max-age` of a client that has an effect */
export function isFresh(
  { freshness, maxAgeMs = Number.POSITIVE_INFINITY }: ResponseCall,
  { kind, askedAt }: StoredResponse,
  minMaxAgeMs: number,
  now: number,
): boolean {
  const limitMs = kind === 'refused' ? refusalMs : Math.max(minMaxAgeMs, maxAgeMs);
  return ageMsOf(askedAt, now) <= Math.min(freshness.freshMs, limitMs);
}

/** Whether a response may be returned while another request refreshes it, or when none can. */
export function isUsable(
  { freshness: { freshMs, staleMs }, maxAgeMs, maxStaleMs = Number.POSITIVE_INFINITY }: ResponseCall,
  response: StoredResponse | undefined,
  now: number,
): response is StoredResponse {
  if (response?.kind !== 'answer' || maxAgeMs !== undefined) return false;
  return ageMsOf(response.askedAt, now) <= freshMs + Math.min(staleMs, maxStaleMs);
}

/**
 * Makes the cache key of a request. The path's alias and the order of the parameters do not matter.
 *
 * @param query validated, in the form that is sent
 * @param body compact JSON, empty for none; another order of its members counts as another request
 * @param secrets texts that no reader of the store knows: a hash without them would confirm a guessed account
 */
export async function responseKey(
  operationId: string,
  query: readonly (readonly [name: string, value: string])[],
  body: string,
  ...secrets: readonly string[]
): Promise<string> {
  const pairs = [...query].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const text = JSON.stringify([operationId, pairs, body, ...secrets]);
  // 128 bits are enough for a name.
  const key = recentKeys.get(text) ?? `${operationId}#${(await sha256Hex(text)).slice(0, 32)}`;
  if (text.length <= 1000) putLatest(recentKeys, text, key, 1000);
  return key;
}

/** Keys made lately, two megabytes at most: a digest leaves the thread, which takes longer than the rest of a cache hit. */
const recentKeys = new Map<string, string>();

/** Freshness of an operation's answer to one request, in milliseconds. */
interface FreshnessMs {
  readonly freshMs: number;
  readonly staleMs: number;
}

/** @param parameters values of the query or the body, by name */
export function freshnessFor(
  { seconds, staleSeconds = 0, by }: Freshness,
  parameters: Readonly<Record<string, unknown>>,
): FreshnessMs {
  const value = by && parameters[by.parameter];
  const own =
    by && typeof value === 'string' && Object.hasOwn(by.seconds, value) ? by.seconds[value] : undefined;
  const freshMs = (own ?? seconds) * 1000;
  // A response with a shorter freshness expires sooner, in proportion.
  return { freshMs, staleMs: own === undefined ? staleSeconds * 1000 : (staleSeconds * freshMs) / seconds };
}
