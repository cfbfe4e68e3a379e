/** Maps and sets of bounded size: they drop the entry that was put in first. */

/** Drops the entries that were added first until at most `max` are left. */
export function dropOldest(from: Set<string> | Map<string, unknown>, max: number): void {
  for (const oldest of from.keys()) {
    if (from.size <= max) return;
    from.delete(oldest);
  }
}

/** Puts an entry in as the latest; the oldest entries beyond `max` are dropped. */
export function putLatest<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  dropOldest(map, max);
}

/** A map whose values have a bounded total size. */
interface ByteBounded<T> {
  /** Puts a value in as the latest; a value that is larger than the whole map is not kept. */
  put(key: string, value: T): void;
  /** Removes a value and returns it. */
  take(key: string): T | undefined;
}

/** @param sizeOf bytes of a value; must give the same number each time */
export function createByteBounded<T extends object>(
  maxBytes: number,
  sizeOf: (value: T) => number,
): ByteBounded<T> {
  const all = new Map<string, T>();
  let bytes = 0;
  const take = (key: string): T | undefined => {
    const value = all.get(key);
    if (!value) return undefined;
    all.delete(key);
    bytes -= sizeOf(value);
    return value;
  };
  return {
    take,
    put(key, value) {
      take(key);
      all.set(key, value);
      bytes += sizeOf(value);
      if (sizeOf(value) > maxBytes) take(key);
      for (const oldest of all.keys()) {
        if (bytes <= maxBytes) break;
        take(oldest);
      }
    },
  };
}
