/** Which nonces were used. Holds a nonce for as long as its request would still be in time, and no longer. */

export class NonceMemory {
  /** Unix milliseconds until which a nonce is taken, in order of arrival. */
  readonly #takenUntil = new Map<string, number>();

  /** False when this app key used this nonce before. Ask only about correctly signed requests. */
  admit(appKey: string, nonce: string, until: number, now: number): boolean {
    this.#forget(now);
    // Neither part can hold a line end: both were header values.
    const key = `${appKey}\n${nonce}`;
    const taken = this.#takenUntil.get(key);
    if (taken !== undefined && taken >= now) return false;
    this.#takenUntil.delete(key);
    this.#takenUntil.set(key, until);
    return true;
  }

  /** From the oldest on; one still in time can hide expired ones, but for at most twice the tolerance. */
  #forget(now: number): void {
    for (const [key, until] of this.#takenUntil) {
      if (until >= now) return;
      this.#takenUntil.delete(key);
    }
  }
}
