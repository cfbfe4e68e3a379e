/** Time that passes only when a test says so, for whole gateways: their timers, their clock, and what works on other threads. */

import { afterEach, beforeEach, vi } from 'vitest';

const immediate = globalThis.setImmediate;
const workOfOtherThreads = ['digest', 'sign', 'importKey', 'deriveKey', 'encrypt', 'decrypt'] as const;

export interface FakeTime {
  /** @param each called at every step, with the time since the beginning */
  pass(ms: number, each?: (at: number) => void): Promise<void>;
}

/** For all tests of a file. */
export function useFakeTime(start = Date.UTC(2026, 10, 20, 15), stepMs = 50): FakeTime {
  let working = 0;
  beforeEach(() => {
    vi.useFakeTimers({ now: start, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    for (const name of workOfOtherThreads) {
      const original = crypto.subtle[name].bind(crypto.subtle) as (...given: unknown[]) => Promise<unknown>;
      vi.spyOn(crypto.subtle, name).mockImplementation(((...given: unknown[]) => {
        working++;
        return original(...given).finally(() => working--);
      }) as never);
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Lets everything go on that waits for no timer. */
  async function settle(): Promise<void> {
    let quiet = 0;
    while (quiet < 4) {
      await new Promise((resolve) => immediate(resolve));
      quiet = working === 0 ? quiet + 1 : 0;
    }
  }

  return {
    async pass(ms, each = () => {}) {
      for (let at = 0; at < ms; at += stepMs) {
        each(at);
        await settle();
        vi.advanceTimersByTime(stepMs);
        await settle();
      }
    },
  };
}
