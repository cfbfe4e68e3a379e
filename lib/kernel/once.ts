/** Work that is done once, when it is first needed. */

/** For an AWS client: making one is a good part of a cold start. @returns gives what `create` made, which is called once at most */
export function onDemand<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}

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
