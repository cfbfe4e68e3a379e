/** Time that passes only in `runUntil`: events in order, and after each the promises that it resolved. */

import { EventHeap } from '../../support/event-heap.ts';

export class VirtualClock {
  /** The true time, in milliseconds. */
  now: number;
  readonly #events = new EventHeap();

  constructor(start = Date.UTC(2026, 10, 17, 9, 30)) {
    this.now = start;
  }

  after(ms: number, run: () => void): () => void {
    return this.#events.add(this.now + Math.max(0, ms), run);
  }

  /** Runs everything up to a time, and whatever follows from it up to then. */
  async runUntil(end: number): Promise<void> {
    await settled();
    for (let { first } = this.#events; first && first.at <= end; first = this.#events.first) {
      this.#events.removeFirst();
      if (!first.run) continue;
      this.now = first.at;
      first.run();
      await settled();
    }
    this.now = end;
  }
}

/** All promises that can go on have gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
