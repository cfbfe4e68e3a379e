/** Time that passes only when a run says so, as in `fake-time.ts`, for a run that is no test of the runner as well. */

import { mock } from 'node:test';
import { type FakeTime, steppedTime } from './stepped-time.ts';

export interface NodeTime extends FakeTime {
  stop(): void;
}

export function startNodeTime(start = Date.UTC(2026, 10, 20, 15), stepMs = 50): NodeTime {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: start });
  // What a process measures passes as its clock does.
  const spies: { readonly mock: { restore(): void } }[] = [
    mock.method(performance, 'now', () => Date.now() - start),
  ];
  const time = steppedTime(
    (name, work) => spies.push(mock.method(crypto.subtle, name, work as never)),
    (ms) => mock.timers.tick(ms),
    stepMs,
  );
  time.begin();
  return {
    pass: time.pass,
    stop() {
      for (const spy of spies) spy.mock.restore();
      mock.timers.reset();
    },
  };
}
