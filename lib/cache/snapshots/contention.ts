/**
 * How much an instance holds back from turns that others want too. A turn that is lost is paid for like one that is
 * taken, and in a storm hundreds of instances would try at the same moment. An instance that is alone does not hold
 * back at all.
 */

import type { LeaseAnswer } from './refresh.ts';

export interface Contention {
  /** How long to wait when a refresh is due, in milliseconds; the same as long as the last turn is the same. */
  delayMs(lastTurn: number): number;
  /**
   * Whether a request may try for a turn, in a storm in which so many instances began in a second: as many of them
   * as would not get in each other's way, and fewer after each loss.
   */
  mayTry(starts: number): boolean;
  heed(taken: LeaseAnswer): void;
}

const firstMs = 20;
const mostMs = 160;
/** Instances that begin in the same second and may all try. */
const startsAtOnce = 8;

export function createContention(random: () => number): Contention {
  let rangeMs = 0;
  let drawn = { turn: -1, ms: 0 };
  return {
    delayMs(turn) {
      if (drawn.turn !== turn) drawn = { turn, ms: random() * rangeMs };
      return drawn.ms;
    },
    mayTry: (starts) => random() * Math.max(starts / startsAtOnce, rangeMs / firstMs) < 1,
    heed(taken) {
      if (taken === 'lost') rangeMs = Math.min(mostMs, Math.max(firstMs, 2 * rangeMs));
      else if (taken === 'taken') rangeMs = rangeMs < firstMs ? 0 : 0.8 * rangeMs;
    },
  };
}
