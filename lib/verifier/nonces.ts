/** Stores the used nonces, so that a captured request cannot be replayed. */

export interface NonceStore {
  /**
   * Stores the nonce until `expiresAt` (ms since the epoch). Returns false when the nonce is already stored, or
   * when the store cannot rule that out: the verifier then refuses the request.
   */
  add(appKey: string, nonce: string, expiresAt: number): boolean | Promise<boolean>;
}

/**
 * A store for one process. It refuses new nonces while it has `maxEntries` that have not expired: dropping one
 * of them would allow its replay.
 *
 * @example
 * const verifier = createVerifier({ secretOf, nonces: createMemoryNonceStore({ maxEntries: 10_000 }) });
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
