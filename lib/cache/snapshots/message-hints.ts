/** Whether the upstream's error messages can be trusted to name the symbol that is unknown. */

/** Named symbols that proved unknown before messages are trusted. */
const rightToTrust = 3;

export class MessageHints {
  /** Symbols that a message named, and of which nothing else is known yet. */
  readonly named = new Set<string>();
  #right = 0;
  #wrong = 0;

  get areTrusted(): boolean {
    return this.#right >= rightToTrust && this.#wrong === 0;
  }

  /** Another instance, which has seen more messages, trusts them. */
  trust(): void {
    this.#right = Math.max(this.#right, rightToTrust);
  }

  /** Compares what was learnt about a symbol with the message that named it, if one did. */
  check(symbol: string, isUnknown: boolean): void {
    if (!this.named.delete(symbol)) return;
    if (isUnknown) this.#right++;
    else this.#wrong++;
  }
}
