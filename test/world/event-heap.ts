/** Events of a virtual clock, the earliest first, and of one time the one that came first. */

export interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

export class EventHeap {
  readonly #heap: Event[] = [];
  #order = 0;

  get first(): Event | undefined {
    return this.#heap[0];
  }

  /** What it returns takes that back. */
  add(at: number, run: () => void): () => void {
    const event: Event = { at, order: this.#order++, run };
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
    return () => {
      event.run = undefined;
    };
  }

  removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}
