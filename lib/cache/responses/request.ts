/** Key and freshness of a request: equivalent requests have one key. */

import type { Freshness } from '../../catalogue/freshness.ts';
import { putLatest } from '../../kernel/bounded-map.ts';
import { sha256Hex } from '../../kernel/key-text.ts';

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
export interface FreshnessMs {
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
