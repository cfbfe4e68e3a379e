/** What a list of records has in it, for an assertion on one line. */

/** A member of each; of several members, a row of each. */
export function each<T, Name extends keyof T>(items: readonly T[], name: Name): T[Name][];
export function each<T>(items: readonly T[], ...names: readonly (keyof T)[]): unknown[][];
export function each<T>(items: readonly T[], ...names: readonly (keyof T)[]): unknown[] {
  const [name, ...others] = names;
  return items.map((one) => (others.length === 0 ? one[name!] : names.map((other) => one[other])));
}
