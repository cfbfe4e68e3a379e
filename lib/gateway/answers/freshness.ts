/** How long an answer may stand for the upstream's next one. */

export interface Freshness {
  /** So long an answer is given without asking again, in seconds. */
  readonly seconds: number;
  /** So long after that it is given to everybody but the one who asks anew; 0 when absent. */
  readonly staleSeconds?: number;
  /** Where a parameter decides, by its value: `seconds` in place of the common one. */
  readonly by?: { readonly parameter: string; readonly seconds: Readonly<Record<string, number>> };
}

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
  // What changes sooner goes stale sooner, in proportion.
  return { freshMs, staleMs: own === undefined ? staleSeconds * 1000 : (staleSeconds * freshMs) / seconds };
}
