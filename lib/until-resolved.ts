/** Work that is done once, if it succeeds. */

/**
 * Calls `make` when it is called first, and again after that rejected.
 *
 * @example
 * const key = untilResolved(readKey);
 */
export function untilResolved<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    if (!made) {
      const one = make();
      made = one;
      one.catch(() => {
        if (made === one) made = undefined;
      });
    }
    return made;
  };
}
