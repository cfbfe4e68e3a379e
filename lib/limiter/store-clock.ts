/**
 * The time that instances share. An instance whose clock is behind that of another follows it as soon as it
 * sees what the other wrote, so that nobody stands in the queue behind times that only look far ahead. No
 * instance gets further from the true time than the furthest clock is anyhow.
 */

export interface StoreClock {
  /** In milliseconds since the epoch; never goes back. */
  now(): number;
  /** How far it is ahead of our own clock; grows when we follow. */
  readonly ahead: number;
  /** Learns that another instance's clock said so already. */
  follow(written: number): void;
}

export function createStoreClock(clock: () => number): StoreClock {
  let ahead = 0;
  let last = 0;
  return {
    now() {
      last = Math.max(last, clock() + ahead);
      return last;
    },
    get ahead() {
      return ahead;
    },
    follow(written) {
      ahead = Math.max(ahead, written - clock());
    },
  };
}

/** Calls back in so many milliseconds, perhaps later; what it returns takes that back. */
export type After = (ms: number, run: () => void) => () => void;

export const afterTimeout: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
