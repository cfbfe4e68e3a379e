/** Ports of a listener that runs for minutes. */

import { sleep as sleepWithTimer } from '../kernel/pauses.ts';

export interface ListenerPorts<Report> {
  readonly report: (report: Report) => void;
  /** In milliseconds since the epoch. */
  readonly clock: () => number;
  /** Resolves after `ms` milliseconds, or rejects when the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface ListenerSeams {
  /** In milliseconds since any moment; never set back or forward. Measures the lease. */
  readonly monotonic?: () => number;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

export interface ListenerRuntime<Report> {
  /** Never throws: a log that fails must not end a stream. */
  readonly report: (report: Report) => void;
  readonly clock: () => number;
  readonly monotonic: () => number;
  readonly random: () => number;
  /** Resolves after `ms` milliseconds, or when the signal aborts: the waiting code then checks the signal. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export function listenerRuntime<Report>({
  report,
  sleep = sleepWithTimer,
  clock = Date.now,
  random = Math.random,
  monotonic = () => performance.now(),
}: Partial<ListenerPorts<Report>> & ListenerSeams): ListenerRuntime<Report> {
  return {
    clock,
    monotonic,
    random,
    report(one) {
      try {
        report?.(one);
      } catch {
        // No one is left to report it to.
      }
    },
    async pause(ms, signal) {
      if (!signal?.aborted) await sleep(Math.max(0, ms), signal).catch(() => {});
    },
  };
}

type Pausing = Pick<ListenerRuntime<never>, 'pause'>;

/** Waits for a task, but no longer than `ms`; no timer outlives the wait. */
export async function settledWithin({ pause }: Pausing, task: Promise<unknown>, ms: number): Promise<void> {
  const settled = new AbortController();
  await Promise.race([task.finally(() => settled.abort()), pause(ms, settled.signal)]);
}

/** Lets a waiting task go on before its time. A ring while the task works ends its next wait. */
export class Bell {
  #rung = false;
  #waiting: AbortController | undefined;

  ring(): void {
    this.#rung = true;
    this.#waiting?.abort();
  }

  /** Waits until it rings, or for `ms`, or until the signal aborts. */
  async wait({ pause }: Pausing, ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    signal.addEventListener('abort', stop);
    this.#waiting = waiting;
    if (this.#rung || signal.aborted) stop();
    await pause(ms, waiting.signal);
    signal.removeEventListener('abort', stop);
    this.#rung = false;
  }
}
