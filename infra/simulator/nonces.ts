/** Remembers used nonces, each for as long as its request would still be in time. */

export class NonceMemory {
  /** Unix milliseconds until which a nonce is remembered, in order of arrival. */
  readonly #takenUntil = new Map<string, number>();

  /** Returns false when this app key used this nonce before. Callers ask only about correctly signed requests. */
  admit(appKey: string, nonce: string, until: number, now: number): boolean {
    this.#forget(now);
    // Neither part can contain a line end: both were header values.
    const key = `${appKey}\n${nonce}`;
    const takenUntil = this.#takenUntil.get(key);
    if (takenUntil !== undefined && takenUntil >= now) return false;
    this.#takenUntil.delete(key);
    this.#takenUntil.set(key, until);
    return true;
  }

  /** Forgets from the oldest on; one that is still in time can hide expired ones, but for at most twice the tolerance. */
  #forget(now: number): void {
    for (const [key, until] of this.#takenUntil) {
      if (until >= now) return;
      this.#takenUntil.delete(key);
    }
  }
}
