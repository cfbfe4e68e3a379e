/** Time that passes only when a run says so, as in `fake-time.ts`, for a run that is no test of the runner as well. */

import { mock } from 'node:test';
import type { FakeTime } from './fake-time.ts';

const workOfOtherThreads = ['digest', 'sign', 'importKey', 'deriveKey', 'encrypt', 'decrypt'] as const;

export interface NodeTime extends FakeTime {
  stop(): void;
}

export function startNodeTime(start = Date.UTC(2026, 10, 20, 15), stepMs = 50): NodeTime {
  let working = 0;
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: start });
  const spies = workOfOtherThreads.map((name) => {
    const original = crypto.subtle[name].bind(crypto.subtle) as (...given: unknown[]) => Promise<unknown>;
    return mock.method(crypto.subtle, name, (...given: unknown[]) => {
      working++;
      return original(...given).finally(() => working--);
    });
  });

  /** Lets everything go on that waits for no timer. */
  async function settle(): Promise<void> {
    let quiet = 0;
    while (quiet < 4) {
      await new Promise((resolve) => setImmediate(resolve));
      quiet = working === 0 ? quiet + 1 : 0;
    }
  }

  return {
    async pass(ms, each = () => {}) {
      for (let at = 0; at < ms; at += stepMs) {
        each(at);
        await settle();
        mock.timers.tick(stepMs);
        await settle();
      }
    },
    stop() {
      for (const spy of spies) spy.mock.restore();
      mock.timers.reset();
    },
  };
}
