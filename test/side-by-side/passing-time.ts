/**
 * Time for whole functions: clock and timers of this process are virtual, and stand still while a connection or another
 * thread works. An hour takes as long as its computing.
 */

import { EventHeap } from '../world/event-heap.ts';

const immediate = globalThis.setImmediate;
const turn = () => new Promise<void>((resolve) => immediate(resolve));

export class PassingTime {
  now: number;
  #working = 0;
  readonly #events = new EventHeap();
  readonly #real = { setTimeout, clearTimeout, now: Date.now };
  readonly #threads = ['digest', 'sign', 'importKey', 'deriveKey', 'encrypt', 'decrypt'] as const;

  constructor(start = Date.UTC(2026, 10, 20, 15)) {
    this.now = start;
    for (const name of this.#threads) {
      const work = crypto.subtle[name].bind(crypto.subtle) as (...given: unknown[]) => Promise<unknown>;
      const value = (...given: unknown[]) => this.working(() => work(...given));
      Object.defineProperty(crypto.subtle, name, { value, configurable: true });
    }
    const timers = new Map<number, () => void>();
    let ids = 0;
    Object.assign(globalThis, {
      setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
        const id = ++ids;
        timers.set(
          id,
          this.after(ms, () => run(...given)),
        );
        // As Node's own: streams ask for the methods.
        return { [Symbol.toPrimitive]: () => id, unref() {}, ref() {}, hasRef: () => true };
      },
      clearTimeout: (timer: unknown) => timers.get(Number(timer))?.(),
    });
    Date.now = () => this.now;
  }

  stop(): void {
    for (const name of this.#threads) Reflect.deleteProperty(crypto.subtle, name);
    const { now, ...timers } = this.#real;
    Object.assign(globalThis, timers);
    Date.now = now;
  }

  readonly clock = (): number => this.now;

  after(ms: number, run: () => void): () => void {
    return this.#events.add(this.now + Math.max(0, Math.ceil(ms)), run);
  }

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const cancel = this.after(ms, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        reject(signal.reason);
      });
    });

  /** Time stands still until it is done. */
  async working<T>(work: () => Promise<T>): Promise<T> {
    this.#working++;
    return work().finally(() => this.#working--);
  }

  async passUntil(end: number): Promise<void> {
    for (;;) {
      await this.#untilQuiet();
      const next = this.#events.first;
      if (!next || next.at > end) break;
      this.#events.removeFirst();
      if (!next.run) continue;
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = end;
  }

  async #untilQuiet(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      await turn();
      quiet = this.#working > 0 ? 0 : quiet + 1;
    }
  }
}
