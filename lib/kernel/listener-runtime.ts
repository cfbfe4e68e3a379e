/** What a listener that runs for minutes has of its platform. */

import { sleep as sleepWithTimer } from './pauses.ts';

export interface ListenerPorts<Report> {
  readonly report: (report: Report) => void;
  /** In milliseconds since the epoch. */
  readonly clock: () => number;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
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
  /** Resolves after so many milliseconds, or when the signal aborts: who waits looks then what is up. */
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
        // Nothing is left to tell it to.
      }
    },
    async pause(ms, signal) {
      if (!signal?.aborted) await sleep(Math.max(0, ms), signal).catch(() => {});
    },
  };
}
