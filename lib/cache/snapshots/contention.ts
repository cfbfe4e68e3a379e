/**
 * Back-off under contention for refresh leases. A lost attempt costs as much as a successful one, and in a storm
 * hundreds of instances would try at the same moment. An instance that is alone does not back off at all.
 */

import type { AcquireResult } from './refresh.ts';

const firstMs = 20;
const maxMs = 160;
/** Instances that begin in the same second and may all try. */
const startsAtOnce = 8;

export class Contention {
  readonly #random: () => number;
  #rangeMs = 0;
  #drawn = { sequence: -1, ms: 0 };

  constructor(random: () => number) {
    this.#random = random;
  }

  /** How long to wait when a refresh is due, in milliseconds; the same as long as the last lease is the same. */
  delayMs(lastSequence: number): number {
    if (this.#drawn.sequence !== lastSequence)
      this.#drawn = { sequence: lastSequence, ms: this.#random() * this.#rangeMs };
    return this.#drawn.ms;
  }

  /**
   * Whether a request may try to acquire a lease, in a storm in which `starts` instances began in a second: as many
   * of them as do not get in each other's way, and fewer after each loss.
   */
  mayTry(starts: number): boolean {
    return this.#random() * Math.max(starts / startsAtOnce, this.#rangeMs / firstMs) < 1;
  }

  record(result: AcquireResult): void {
    if (result === 'lost') this.#rangeMs = Math.min(maxMs, Math.max(firstMs, 2 * this.#rangeMs));
    else if (result === 'acquired') this.#rangeMs = this.#rangeMs < firstMs ? 0 : 0.8 * this.#rangeMs;
  }
}
