/** Short hashes of bytes and texts: they tell whether something changed, and are no protection against forgery. */

/** 53 bits of the bytes (two multiplicative hashes side by side), as a whole number. */
export function hashOf(bytes: Uint8Array): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < bytes.length; at++) {
    high = Math.imul(high ^ bytes[at]!, 2654435761);
    low = Math.imul(low ^ bytes[at]!, 1597334677);
  }
  return joined(high, low);
}

/** The same of a sequence of such numbers; their order counts. */
export function hashOfAll(hashes: readonly number[]): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (const hash of hashes) {
    high = Math.imul((high ^ hash) + 1, 2654435761);
    low = Math.imul((low ^ (hash / 2 ** 21)) + 1, 1597334677) ^ high;
  }
  return joined(high, low);
}

/** 32 bits of a text. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function joined(high: number, low: number): number {
  const mixedLow = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  const mixedHigh = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 2 ** 32 * (mixedHigh & 0x1fffff) + (mixedLow >>> 0);
}
