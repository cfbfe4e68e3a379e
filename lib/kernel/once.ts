/** Work that is done once, when it is first needed. */

/** Delays making an AWS client, which is a good part of a cold start. `create` is called at most once. */
export function onDemand<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}

/**
 * Calls `make` at the first call and shares its promise; a call after a rejection calls `make` again.
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
