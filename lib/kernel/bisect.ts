/** Bisection: splits a list that failed as a whole, so that each half can be tried alone. */

/** The first half has one element more when their number is odd. */
export function halves<T>(all: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
}
