/** The upstream's time, as far as its messages tell: changes are dated by it, and a listener's own clock may be off. */

/** No clock of a listener that signs can be off by more: the upstream would refuse it. */
const maxOffsetMs = 600_000;

export class UpstreamClock {
  readonly #clock: () => number;
  #offset: number | undefined;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock() + (this.#offset ?? 0);
  }

  /** A message is never older than it seems: the least delayed one tells the most. */
  note(timestamp: number, receivedAt: number): void {
    const offset = timestamp - receivedAt;
    if (Math.abs(offset) <= maxOffsetMs) this.#offset = Math.max(offset, this.#offset ?? offset);
  }
}
