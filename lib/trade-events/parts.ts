/** What all parts of the listener share: the ports, with their defaults. */

import { type ListenerRuntime, listenerRuntime } from '../kernel/listener-runtime.ts';
import type { TradeEventListenerOptions, TradeEventReport, TradeEventTuning } from './listener-options.ts';

type Needed = Pick<
  TradeEventListenerOptions,
  'transport' | 'orders' | 'store' | 'bus' | 'names' | 'readCredential' | 'accounts'
>;

export interface Parts extends Needed, ListenerRuntime<TradeEventReport> {
  readonly tuning: TradeEventTuning;
}

const defaults: TradeEventTuning = {
  leaseMs: 12_000,
  renewEveryMs: 3_000,
  pollMs: 100,
  silenceMs: 90_000,
  compareEveryMs: 300_000,
  readSecretEveryMs: 300_000,
  waitMs: 75_000,
  marginMs: 2_000,
  lagMs: 30_000,
  graceMs: 10_000,
};

export const partsOf = (options: TradeEventListenerOptions): Parts => ({
  ...options,
  ...listenerRuntime(options),
  tuning: { ...defaults, ...options.tuning },
});

/** Waits for a task, but no longer than that; no timer outlives it. */
export async function settledWithin(
  { pause }: Pick<Parts, 'pause'>,
  task: Promise<void>,
  ms: number,
): Promise<void> {
  const settled = new AbortController();
  await Promise.race([task.finally(() => settled.abort()), pause(ms, settled.signal)]);
}

/** Lets a waiting task go on before its time. What rings while the task works is heard afterwards. */
export class Bell {
  #rung = false;
  #waiting: AbortController | undefined;

  ring(): void {
    this.#rung = true;
    this.#waiting?.abort();
  }

  /** Until it rings, or for so long, or until the signal aborts. */
  async wait(parts: Pick<Parts, 'pause'>, ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    signal.addEventListener('abort', stop);
    this.#waiting = waiting;
    if (this.#rung || signal.aborted) stop();
    await parts.pause(ms, waiting.signal);
    signal.removeEventListener('abort', stop);
    this.#rung = false;
  }
}
