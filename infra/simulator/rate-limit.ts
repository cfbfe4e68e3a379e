/** A request limit as a sliding log: in any window of its length at most so many requests are admitted. */

import type { RequestLimit } from '../../lib/catalogue/index.ts';

export type Window = Pick<RequestLimit, 'requests' | 'perSeconds'>;

export class SlidingLog {
  readonly #window: Window;
  /** Arrival times of the admitted requests, Unix milliseconds, oldest first. */
  readonly #admitted: number[] = [];

  constructor(window: Window) {
    this.#window = window;
  }

  /** Counts the request unless the window is full; a refused one leaves no trace. */
  admit(now: number): boolean {
    const hasRoom = this.hasRoom(now);
    if (hasRoom) this.count(now);
    return hasRoom;
  }

  hasRoom(now: number): boolean {
    const start = now - this.#window.perSeconds * 1000;
    while (this.#admitted.length > 0 && this.#admitted[0]! <= start) this.#admitted.shift();
    return this.#admitted.length < this.#window.requests;
  }

  count(now: number): void {
    this.#admitted.push(now);
  }
}
