/** An operation's freshness for one request, in milliseconds. */

import type { Freshness } from '../../catalogue/freshness.ts';

export interface FreshnessMs {
  readonly freshMs: number;
  readonly staleMs: number;
}

/** @param parameters of the query or the body, by name */
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
