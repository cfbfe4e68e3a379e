/** Time that passes only when a test says so, for whole gateways: their timers, their clock, and what works on other threads. */

import { afterEach, beforeEach, vi } from 'vitest';
import { type FakeTime, steppedTime } from './stepped-time.ts';

/** For all tests of a file. */
export function useFakeTime(start = Date.UTC(2026, 10, 20, 15), stepMs = 50): FakeTime {
  const time = steppedTime(
    (name, work) => vi.spyOn(crypto.subtle, name).mockImplementation(work as never),
    (ms) => vi.advanceTimersByTime(ms),
    stepMs,
  );
  beforeEach(() => {
    vi.useFakeTimers({ now: start, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    time.begin();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return time;
}
