/** Reads what answers write in more than one way: numbers that are not reported, and lists with and without a wrapper. */

/**
 * What an answer reports, or undefined: the upstream writes `""` or `null` for a number that it does not have, or
 * leaves the member out. Of a text that may be empty by itself, use the text.
 *
 * @example
 * const delta = reported(snapshot.delta); // undefined outside market hours
 * if (delta !== undefined) console.log(multiplyDecimals(delta, '100'));
 */
export const reported = <T>(value: T): Exclude<T, '' | null | undefined> | undefined =>
  value === '' || value == null ? undefined : (value as Exclude<T, '' | null | undefined>);

/**
 * The records of an answer that is a list live, and an object with the list in `result` in the vendor's documents.
 *
 * @example
 * for (const { symbol, result } of recordsIn(await client.listOptionBars(query))) console.log(symbol, result.length);
 */
export const recordsIn = <T>(answer: readonly T[] | { readonly result: readonly T[] }): readonly T[] =>
  'result' in answer ? answer.result : answer;
