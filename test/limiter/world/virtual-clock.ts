/** Time that passes only in `runUntil`: events in order, and after each the promises that it resolved. */

interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

export class VirtualClock {
  /** The true time, in milliseconds. */
  now: number;
  readonly #heap: Event[] = [];
  #order = 0;

  constructor(start = Date.UTC(2026, 10, 17, 9, 30)) {
    this.now = start;
  }

  after(ms: number, run: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(event);
    return () => {
      event.run = undefined;
    };
  }

  /** Runs everything up to a time, and whatever follows from it up to then. */
  async runUntil(end: number): Promise<void> {
    await settled();
    for (let event = this.#heap[0]; event && event.at <= end; event = this.#heap[0]) {
      this.#pop();
      if (!event.run) continue;
      this.now = event.at;
      event.run();
      await settled();
    }
    this.now = end;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (isBefore(heap[parent]!, event)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** All promises that can go on have gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
