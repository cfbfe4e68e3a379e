/** Collects the mistakes of a configuration, so that its author reads all of them at once. */

/**
 * Sentences, one for each mistake, in the order in which they are found.
 *
 * @example
 * const mistakes = new Mistakes(StartError);
 * const port = mistakes.read(() => readPort(env, 'PORT', 8787), 0);
 * mistakes.throwAny();
 */
export class Mistakes {
  readonly #kind: new (
    message: string,
  ) => Error;
  readonly #sentences = new Set<string>();

  /** @param kind error that carries one mistake or all of them */
  constructor(kind: new (message: string) => Error) {
    this.#kind = kind;
  }

  add(...sentences: readonly string[]): void {
    for (const sentence of sentences) this.#sentences.add(sentence);
  }

  /** Number of mistakes so far. */
  get count(): number {
    return this.#sentences.size;
  }

  /** @param otherwise value with which the checks go on in place of a wrong one */
  read<T>(read: () => T, otherwise: T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof this.#kind)) throw error;
      this.add(error.message);
      return otherwise;
    }
  }

  /**
   * @param hints possible reasons of a mistake, which are no mistakes themselves
   * @throws the error with a line for each mistake, if there is any
   */
  throwAny(hints: readonly string[] = []): void {
    if (this.#sentences.size > 0) throw new this.#kind([...this.#sentences, ...hints].join('\n'));
  }
}
