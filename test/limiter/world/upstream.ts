/** Counts arrivals, as the upstream does: in every true window, wherever it begins. */

export class Upstream {
  readonly #arrivals: number[];
  #sorted = false;

  constructor(times: readonly number[] = []) {
    this.#arrivals = [...times];
  }

  arrive(time: number): void {
    this.#arrivals.push(time);
    this.#sorted = false;
  }

  /** In order. */
  get arrivals(): readonly number[] {
    if (!this.#sorted) this.#arrivals.sort((a, b) => a - b);
    this.#sorted = true;
    return this.#arrivals;
  }

  between(from: number, to: number): number {
    return this.arrivals.filter((time) => time >= from && time < to).length;
  }

  /** The most that any window of this length held; of two that are exactly so far apart it holds one. */
  worstWindow(lengthMs = 60_000): number {
    const { arrivals } = this;
    let worst = 0;
    let first = 0;
    for (let last = 0; last < arrivals.length; last++) {
      while (arrivals[first]! <= arrivals[last]! - lengthMs) first++;
      worst = Math.max(worst, last - first + 1);
    }
    return worst;
  }

  /** The longest time without an arrival. */
  longestGap(from: number, to: number): number {
    const times = [from, ...this.arrivals.filter((time) => time >= from && time < to), to];
    return Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  }
}
