/**
 * Instances that serve one request at a time, as many as are needed; a new one begins with an empty memory. A
 * request goes to one of those that were idle for the shortest time, so that what a burst has started is left
 * to be reclaimed.
 */

import type { QuoteCall, QuoteOutcome, Quotes } from '../../../lib/gateway/quotes/quotes.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Computing, and what the platform adds, while an instance cannot take another request. */
const busyMs = 2;
const recent = 16;
/** The platform takes back what a burst left idle; here at once, so that a later burst begins cold. */
const mostIdle = 64;

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
    this.#time.after(busyMs, () => {
      this.#idle.push(instance);
      if (this.#idle.length > mostIdle) this.#idle.shift();
    });
    return outcome;
  }

  #take(): Quotes {
    const { length } = this.#idle;
    if (length === 0) {
      this.size++;
      return this.#create();
    }
    const at = Math.max(0, length - 1 - Math.floor(this.#random() * recent));
    const chosen = this.#idle[at]!;
    this.#idle.splice(at, 1);
    return chosen;
  }
}
