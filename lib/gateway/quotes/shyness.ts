/**
 * How long an instance lets others go first when a refresh is due. A turn that is lost is paid for all the
 * same, so with many instances each waits for a chance part of a time that grows with every loss; alone, it
 * does not wait at all.
 */

import type { Taken } from './turns.ts';

export interface Shyness {
  /** In milliseconds, the same as long as the last turn is the same. */
  of(lastTurn: number): number;
  heed(taken: Taken): void;
}

const firstMs = 20;
const mostMs = 160;

export function createShyness(random: () => number): Shyness {
  let rangeMs = 0;
  let drawn = { turn: -1, ms: 0 };
  return {
    of(turn) {
      if (drawn.turn !== turn) drawn = { turn, ms: random() * rangeMs };
      return drawn.ms;
    },
    heed(taken) {
      if (taken === 'lost') rangeMs = Math.min(mostMs, Math.max(firstMs, 2 * rangeMs));
      else if (taken === 'taken') rangeMs = rangeMs < firstMs ? 0 : 0.8 * rangeMs;
    },
  };
}
