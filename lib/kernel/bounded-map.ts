/** Maps and sets of bounded size: what was put there first, or was not used for longest, goes first. */

/** Makes room in a set or a map: what was added first goes first. */
export function dropOldest(from: Set<string> | Map<string, unknown>, max: number): void {
  for (const oldest of from.keys()) {
    if (from.size <= max) return;
    from.delete(oldest);
  }
}

/** Puts an entry in, as the latest. */
export function putLatest<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  dropOldest(map, max);
}

/** A map of so many bytes. */
export interface ByteBounded<T> {
  /** Puts it in, as the latest; one that is larger than the map is not kept. */
  put(key: string, value: T): void;
  /** Takes it out. */
  take(key: string): T | undefined;
}

/** @param sizeOf gives the same for the same value each time */
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
