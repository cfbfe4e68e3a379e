/** Bisection: the halves of a list that failed as a whole, each to be tried alone. */

/** Of an odd number the first half is the larger one. */
export function halves<T>(all: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
}
