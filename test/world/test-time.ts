/** Time of all tests of a file. */

import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { FakeTime } from './fake-time.ts';

/** Time that passes only when a test says so, for whole gateways: their timers, their clock, and work on other threads. */
export function useFakeTime(start?: number, stepMs?: number): FakeTime {
  const time = new FakeTime(start, stepMs);
  beforeEach(() => void time.begin());
  afterEach(() => time.stop());
  return time;
}

/** Aborts on the timer that the test has replaced, as the platform's own does not. */
function timeoutByTimer(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException('no answer in time', 'TimeoutError')), ms);
  return controller.signal;
}

/**
 * Time for whole gateways over real connections, on a machine that may be slow: a turn of the event loop counts as a few
 * milliseconds at most, for clocks, timers and time-outs alike, however long the machine takes for it.
 */
export function useCalmTime(): void {
  const { timeout } = AbortSignal;
  beforeAll(() => {
    const toFake = ['setTimeout', 'clearTimeout', 'Date', 'performance'] as const;
    vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 10, toFake: [...toFake] });
    AbortSignal.timeout = timeoutByTimer;
  });
  afterAll(() => {
    AbortSignal.timeout = timeout;
    vi.useRealTimers();
  });
}
