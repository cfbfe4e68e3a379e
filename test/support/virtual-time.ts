/** A clock that jumps from one event to the next: ten minutes of a fleet take as long as its computing. */

export class VirtualTime {
  #now: number;
  #order = 0;
  readonly #heap: Event[] = [];

  constructor(start = 1_795_239_000_000) {
    this.#now = start;
  }

  readonly now = (): number => this.#now;
  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve));

  /** What it returns takes that back. */
  readonly after = (ms: number, run: () => void): (() => void) => {
    const event: Event = { at: this.#now + Math.max(0, ms), order: this.#order++, run };
    this.#push(event);
    return () => {
      event.run = undefined;
    };
  };

  /** Runs what is due up to `end`, each event with all that follows from it without waiting. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (!next || next.at > end) break;
      this.#pop();
      if (!next.run) continue;
      this.#now = Math.max(this.#now, next.at);
      next.run();
      // The next turn of the real event loop: every promise that could go on has.
      await new Promise(setImmediate);
    }
    this.#now = Math.max(this.#now, end);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}
const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

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
