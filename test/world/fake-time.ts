/**
 * Time for whole gateways, which passes in steps and only when a run says so: the clock and the timers of this process.
 * Before and after each step everything goes on that waits for no timer, also on WebCrypto's threads.
 */

import { EventHeap } from './event-heap.ts';

const immediate = globalThis.setImmediate;
type Work = (...given: unknown[]) => Promise<unknown>;
const workOfOtherThreads = ['digest', 'sign', 'importKey', 'deriveKey', 'encrypt', 'decrypt'] as const;

/** Changes of a wall clock, in milliseconds: a drift, a suspended machine, and a wrong time zone. */
export const clockSteps = [-3_600_000, -120_000, -5000, 5000, 120_000, 3_600_000] as const;

export class FakeTime {
  readonly #start: number;
  readonly #stepMs: number;
  #working = 0;
  /** Milliseconds since the beginning, which no change of the clock moves. */
  #passed = 0;
  #clockAheadMs = 0;
  #timers = new EventHeap();
  readonly #restore: (() => void)[] = [];

  constructor(start = Date.UTC(2026, 10, 20, 15), stepMs = 50) {
    this.#start = start;
    this.#stepMs = stepMs;
  }

  begin(): this {
    this.#passed = 0;
    this.#clockAheadMs = 0;
    this.#timers = new EventHeap();
    const cancels = new Map<number, () => void>();
    this.#replace(
      globalThis,
      'setTimeout',
      (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
        const id = cancels.size + 1;
        const cancel = this.#timers.add(this.#passed + Math.max(1, ms), () => run(...given));
        cancels.set(id, cancel);
        // Node's streams call these methods.
        const timer = {
          [Symbol.toPrimitive]: () => id,
          unref: () => timer,
          ref: () => timer,
          hasRef: () => true,
        };
        return timer;
      },
    );
    this.#replace(globalThis, 'clearTimeout', (timer: unknown) => cancels.get(Number(timer))?.());
    const now = () => this.#start + this.#clockAheadMs + this.#passed;
    this.#replace(Date, 'now', now);
    this.#replace(performance, 'now', () => this.#passed);
    for (const name of workOfOtherThreads) {
      const work = crypto.subtle[name].bind(crypto.subtle) as Work;
      this.#replace(crypto.subtle, name, (...given: unknown[]) => {
        this.#working++;
        return work(...given).finally(() => this.#working--);
      });
    }
    return this;
  }

  stop(): void {
    for (const restore of this.#restore.splice(0)) restore();
  }

  /** @param each called at every step, with the time since the call of `pass` */
  readonly pass = async (ms: number, each: (at: number) => void = () => {}): Promise<void> => {
    for (let at = 0; at < ms; at += this.#stepMs) {
      each(at);
      await this.#settle();
      this.#passed += this.#stepMs;
      this.#runDue();
      await this.#settle();
    }
  };

  /** Lets time pass until the work is done. */
  readonly passUntil = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    await this.#settle();
    while (!isDone) await this.pass(this.#stepMs);
    return work;
  };

  /** Puts the wall clock forward or back, as an operator or the network does; timers go on. */
  readonly putClock = (byMs: number): void => {
    this.#clockAheadMs += byMs;
  };

  #runDue(): void {
    for (let { first } = this.#timers; first && first.at <= this.#passed; first = this.#timers.first) {
      this.#timers.removeFirst();
      first.run?.();
    }
  }

  #replace(owner: object, name: string, value: unknown): void {
    const original = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
    this.#restore.push(() => {
      if (original) Object.defineProperty(owner, name, original);
      else Reflect.deleteProperty(owner, name);
    });
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; ) {
      await new Promise((resolve) => immediate(resolve));
      quiet = this.#working === 0 ? quiet + 1 : 0;
    }
  }
}
