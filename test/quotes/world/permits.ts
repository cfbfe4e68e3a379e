/**
 * Stands in for the shared budget: a log of the last 300 permissions in a window long enough for clocks and
 * network (61.5 s), with an even pace for what nobody waits for.
 */

import type { Permissions } from '../../../lib/gateway/quotes/ports.ts';
import type { VirtualTime } from './virtual-time.ts';

const windowMs = 61_500;
const capacity = 298;
const paceMs = windowMs / capacity;
const lifeMs = 250;

export interface Permits extends Permissions {
  /** Permissions given, used or not. */
  readonly given: readonly number[];
}

/** @param storeMs what one operation of the budget's store takes */
export function createPermits(time: VirtualTime, storeMs: () => number): Permits {
  const given: number[] = [];
  let first = 0;
  let lastBackground = 0;

  function nextAt(priority: 'interactive' | 'background'): number {
    const now = time.now();
    while (given[first] !== undefined && given[first]! <= now - windowMs) first++;
    const room = capacity - (given.length - first);
    const leaves = given[first] === undefined ? now : given[first]! + windowMs;
    if (room <= 0) return leaves;
    if (priority === 'interactive') return now;
    // What is left has to last until the first leaves the window: slower now rather than nothing then.
    return lastBackground + Math.max(paceMs, (leaves - now) / (room + 1));
  }

  return {
    given,
    async ask({ priority, waitMs }) {
      const asked = time.now();
      await time.sleep(storeMs());
      for (;;) {
        const now = time.now();
        const next = nextAt(priority);
        if (next <= now) {
          given.push(now);
          if (priority === 'background') lastBackground = Math.max(next, now - paceMs / 2);
          let used = false;
          const validUntil = now + lifeMs;
          const use = () => {
            const isGood = !used && time.now() <= validUntil;
            used = true;
            return isGood;
          };
          return { ok: true, permission: { validUntil, use } };
        }
        if (next > asked + waitMs) return { ok: false, retryAfterMs: next - now };
        await time.sleep(next - now);
      }
    },
  };
}
