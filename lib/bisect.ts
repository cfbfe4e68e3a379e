/** Bisection: a batch that fails as a whole is halved until its bad members stand alone. */

/** The first half is the larger one when the count is odd. */
export function halves<T>(items: readonly T[]): readonly [first: readonly T[], second: readonly T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
