/**
 * Instances that serve one request at a time, as many as are needed; a new one begins with an empty memory. A
 * request mostly goes to the instance that was idle for the shortest time, and sometimes to any, so that some
 * come back after long.
 */

import type { QuoteCall, QuoteOutcome, Quotes } from '../../../lib/gateway/quotes/quotes.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Computing, and what the platform adds, while an instance cannot take another request. */
const busyMs = 2;
const anyShare = 0.02;

export class Fleet {
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #create: () => Quotes;
  readonly #idle: Quotes[] = [];
  size = 0;

  constructor(time: VirtualTime, random: () => number, create: () => Quotes) {
    this.#time = time;
    this.#random = random;
    this.#create = create;
  }

  async serve(call: QuoteCall): Promise<QuoteOutcome> {
    const instance = this.#take();
    const outcome = await instance.ask(call);
    this.#time.after(busyMs, () => this.#idle.push(instance));
    return outcome;
  }

  #take(): Quotes {
    const { length } = this.#idle;
    if (length === 0) {
      this.size++;
      return this.#create();
    }
    const at = this.#random() < anyShare ? Math.floor(this.#random() * length) : length - 1;
    const chosen = this.#idle[at]!;
    this.#idle[at] = this.#idle[length - 1]!;
    this.#idle.pop();
    return chosen;
  }
}
