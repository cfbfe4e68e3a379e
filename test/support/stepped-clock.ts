/** Time in which the wall clock can be put back or forward, as an operator or the network does; timers go on. */

import { afterAll, beforeAll, vi } from 'vitest';

/** The steps of a wall clock, in milliseconds: of a drift, of a suspended machine, and of a wrong time zone. */
export const steps = [-3_600_000, -120_000, -5000, 5000, 120_000, 3_600_000] as const;

export function useSteppedTime(): void {
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  });
  afterAll(() => {
    vi.useRealTimers();
  });
}

/** Puts the wall clock, and nothing else. */
export const step = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** The machine's own, as it is before a test takes it over. */
const { setTimeout: setRealTimeout } = globalThis;
/** Turns of the event loop in each of which the machine gets time of its own: digests are ready by then. */
const calmTurns = 10;

/**
 * Lets time pass until the work is done: WebCrypto needs turns of the true event loop, and of a busy machine time besides,
 * which is not the test's.
 */
export async function passUntil<T>(work: Promise<T>, turnMs = 5): Promise<T> {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  work.then(end, end);
  for (let turn = 0; !isDone; turn++) {
    await new Promise(setImmediate);
    if (!isDone && turn < calmTurns) await new Promise((resolve) => setRealTimeout(resolve, 1));
    if (!isDone) await vi.advanceTimersByTimeAsync(turnMs);
  }
  return work;
}

/** Lets time pass until this moment of `performance.now()`. */
export const passTo = (at: number): Promise<unknown> =>
  vi.advanceTimersByTimeAsync(Math.max(0, at - performance.now()));
