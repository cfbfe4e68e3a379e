/** An AWS client that is made when a function first needs it: making one is a good part of a cold start. */

/** @returns gives what `create` made, which is called once at most */
export function onDemand<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
