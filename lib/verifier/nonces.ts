/** Nonces that were used: what makes a captured request worthless. */

export interface NonceStore {
  /**
   * Remembers the nonce until `expiresAt` (ms since the epoch). False when it is already there, or when the
   * store cannot promise that it is not: a request is then refused.
   */
  add(appKey: string, nonce: string, expiresAt: number): boolean | Promise<boolean>;
}

/**
 * A store for one process. When `maxEntries` unexpired nonces are held it takes no more, because forgetting
 * one would let it be replayed.
 */
export function createMemoryNonceStore({
  maxEntries = 100_000,
  clock = Date.now,
}: {
  readonly maxEntries?: number;
  readonly clock?: () => number;
} = {}): NonceStore {
  const expiryOf = new Map<string, number>();
  let nextSweep = 0;
  return {
    add(appKey, nonce, expiresAt) {
      const now = clock();
      if (now >= nextSweep || expiryOf.size >= maxEntries) {
        for (const [key, expiry] of expiryOf) if (expiry <= now) expiryOf.delete(key);
        nextSweep = now + 10_000;
      }
      const key = JSON.stringify([appKey, nonce]);
      if ((expiryOf.get(key) ?? 0) > now || expiryOf.size >= maxEntries) return false;
      expiryOf.set(key, expiresAt);
      return true;
    },
  };
}
