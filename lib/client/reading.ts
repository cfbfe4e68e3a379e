/** Reads parts of answers that have several forms: numbers that are not reported, and lists with and without a wrapper. */

/**
 * Returns a reported number, or undefined: the upstream writes `""` or `null` for a number that it does not have, or leaves
 * the member out. Do not use it for a text, which may rightly be empty.
 *
 * @example
 * const delta = reported(snapshot.delta); // undefined outside market hours
 * if (delta !== undefined) console.log(multiplyDecimals(delta, '100'));
 */
export const reported = <T>(value: T): Exclude<T, '' | null | undefined> | undefined =>
  value === '' || value == null ? undefined : (value as Exclude<T, '' | null | undefined>);

/**
 * Returns the records of an answer. Live answers are a list; the vendor's documents show an object with the list in
 * `result`.
 *
 * @example
 * for (const { symbol, result } of recordsIn(await client.listOptionBars(query))) console.log(symbol, result.length);
 */
export const recordsIn = <T>(answer: readonly T[] | { readonly result: readonly T[] }): readonly T[] =>
  'result' in answer ? answer.result : answer;
