/** A clock that jumps from one event to the next: ten minutes of a fleet take as long as its computing. */

import { EventHeap } from './event-heap.ts';

export class VirtualTime {
  #now: number;
  readonly #events = new EventHeap();

  constructor(start = 1_795_239_000_000) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;
  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve));

  /** What it returns takes that back. */
  readonly after = (ms: number, run: () => void): (() => void) =>
    this.#events.add(this.#now + Math.max(0, ms), run);

  /** Runs what is due up to `end`, each event with all that follows from it without waiting. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const next = this.#events.first;
      if (!next || next.at > end) break;
      this.#events.removeFirst();
      if (!next.run) continue;
      this.#now = Math.max(this.#now, next.at);
      next.run();
      // The next turn of the real event loop: every promise that could go on has.
      await new Promise(setImmediate);
    }
    this.#now = Math.max(this.#now, end);
  }
}

/** Repeatable chance (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A normally distributed number. */
export const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
