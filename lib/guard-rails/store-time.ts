/**
 * The time by which orders of the last minute are counted. Each instance has a clock, and they may differ; a store has one
 * for all, and dates its answers.
 */

export interface StoreTime {
  /** The store's time in milliseconds since the epoch, as far as its answers tell: this instance's own before the first. */
  now(): number;
  /**
   * Takes note of an answer.
   *
   * @param date that the store wrote, of whole seconds
   * @param askedAt and when the answer had come, by this instance's clock
   */
  dated(date: number, askedAt: number, answeredAt: number): void;
}

/** What takes longer says too little of the time. What operators have set is read in less, and before each order. */
const maxAnswerMs = 1000;
/** By so much the times of two instances may differ: of each it is unknown within a date's second and an answer's time. */
export const storeTimeSpreadMs = 2 * (1000 + maxAnswerMs);

/**
 * A clock that agrees with the dates counts as it is: so instances whose clocks are right differ as little as these.
 *
 * @example
 * const time = createStoreTime(Date.now);
 * time.dated(Date.parse(headers.date), askedAt, Date.now());
 * time.now();
 */
export function createStoreTime(clock: () => number): StoreTime {
  let ahead = 0;
  return {
    now: () => clock() + ahead,
    dated(date, askedAt, answeredAt) {
      const tookMs = answeredAt - askedAt;
      if (Number.isNaN(date) || tookMs < 0 || tookMs > maxAnswerMs) return;
      ahead = Math.min(Math.max(ahead, date - answeredAt), date + 999 - askedAt);
    },
  };
}
