/**
 * Time for whole gateways over real connections, on a machine that may be slow: a turn of the event loop counts as a few
 * milliseconds at most, for clocks, timers and time-outs alike, however long the machine takes for it.
 */

import { afterAll, beforeAll, vi } from 'vitest';

const { timeout } = AbortSignal;

/** On the timer that counts as the test has it, as the platform's own does not. */
function timeoutByTimer(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException('no answer in time', 'TimeoutError')), ms);
  return controller.signal;
}

/** For all tests of a file. */
export function useCalmTime(): void {
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
