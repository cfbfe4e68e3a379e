/** Whether an instance may ask the store: back-off after failures, another after throttling, and crowding in a storm. */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';
import { StoreThrottled } from '../../limiter/store-throttled.ts';
import { crowdedMs } from './options.ts';

/** After a failure the store is not asked for this long. */
const downBackOff: BackOff = { firstMs: 1000, maxMs: 2500 };
/** After throttling: the store is there, and wants fewer requests. */
const throttledBackOff: BackOff = { firstMs: 100, maxMs: 2000 };
/** After throttling polls are up to this many times further apart, and come closer again with each success. */
const maxPollScale = 32;
/** Without a store an instance refreshes for itself alone, this often. */
const alonePaceMs = 3000;

export class StoreHealth {
  readonly #random: () => number;
  #downUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #throttledUntil = Number.NEGATIVE_INFINITY;
  #throttles = 0;
  #crowdedUntil = Number.NEGATIVE_INFINITY;
  #pollScale = 1;
  #aloneDue = Number.NEGATIVE_INFINITY;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether the store has failed, so that this instance is on its own for a while. */
  isDown(now: number): boolean {
    return now < this.#downUntil;
  }

  mayAsk(now: number): boolean {
    return now >= this.#downUntil && now >= this.#throttledUntil;
  }

  /** Whether so many instances began together, or the store throttles so, that no request should wait in this one. */
  isCrowded(now: number): boolean {
    return now < this.#crowdedUntil;
  }

  /** How many times further apart polls are than usual. */
  get pollScale(): number {
    return this.#pollScale;
  }

  /** When an instance without a store refreshes for itself. */
  get aloneDue(): number {
    return this.#aloneDue;
  }

  setCrowded(now: number): void {
    this.#crowdedUntil = now + crowdedMs;
  }

  setThrottled(now: number): void {
    this.#crowdedUntil = Math.max(this.#crowdedUntil, now + crowdedMs);
  }

  setRefreshedAlone(now: number): void {
    this.#aloneDue = now + alonePaceMs;
  }

  succeed(): void {
    this.#failures = 0;
    this.#throttles = 0;
    this.#pollScale = Math.max(1, 0.95 * this.#pollScale);
  }

  fail(cause: unknown, now: number): void {
    if (cause instanceof StoreThrottled) {
      this.setThrottled(now);
      if (now < this.#throttledUntil) return;
      const pauseMs = backOffMs(throttledBackOff, this.#throttles++);
      this.#throttledUntil = now + pauseMs * (0.5 + this.#random());
      this.#pollScale = Math.min(maxPollScale, 2 * this.#pollScale);
      return;
    }
    if (now < this.#downUntil) return;
    // Not all instances at the same moment, and none before it has served from memory for a while.
    if (this.#failures === 0) this.#aloneDue = now + (0.3 + 0.7 * this.#random()) * alonePaceMs;
    this.#downUntil = now + backOffMs(downBackOff, this.#failures++);
  }
}
