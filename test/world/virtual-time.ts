/** A clock that jumps from one event to the next: ten minutes of a fleet take as long as its computing. */

import { EventHeap } from './event-heap.ts';

export class VirtualTime {
  #now: number;
  readonly #events = new EventHeap();

  constructor(start = 1_795_239_000_000) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;
  /** @param signal rejects the sleep at once */
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = () => {
        cancel();
        reject(new Error('aborted'));
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    });

  /** @returns cancels the event */
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
      await settled();
    }
    this.#now = Math.max(this.#now, end);
  }

  /** Runs what can go on at once, and then the next so many milliseconds. */
  async pass(ms: number): Promise<void> {
    await settled();
    await this.runUntil(this.#now + ms);
  }

  /** Lets time pass, so many milliseconds at once, until the work is done. */
  async passUntil<T>(work: Promise<T>, stepMs = 1): Promise<T> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    while (!isDone) await this.pass(stepMs);
    return work;
  }
}

/** Lets every promise go on that can: the next turn of the real event loop. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
