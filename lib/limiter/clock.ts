/**
 * The clock that instances share. An instance whose clock is behind another's follows it as
 * soon as it reads what the other wrote, so that it does not queue behind times that only look far ahead. No
 * instance gets further from the true time than the furthest clock already is.
 */

export interface StoreClock {
  /** In milliseconds since the epoch; never goes back. */
  now(): number;
  /** How far it is ahead of this instance's own clock, in milliseconds; grows when it follows another. */
  readonly ahead: number;
  /** Takes note that another instance's clock has already reached this time. */
  follow(writtenAt: number): void;
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
    follow(writtenAt) {
      ahead = Math.max(ahead, writtenAt - clock());
    },
  };
}
