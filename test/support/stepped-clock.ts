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

/** Lets time pass until the work is done: WebCrypto needs turns of the true event loop. */
export async function passUntil<T>(work: Promise<T>, turnMs = 5): Promise<T> {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  work.then(end, end);
  while (!isDone) {
    await new Promise(setImmediate);
    if (!isDone) await vi.advanceTimersByTimeAsync(turnMs);
  }
  return work;
}

/** Lets time pass until this moment of `performance.now()`. */
export const passTo = (at: number): Promise<unknown> =>
  vi.advanceTimersByTimeAsync(Math.max(0, at - performance.now()));
