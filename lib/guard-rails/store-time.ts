/**
 * The time by which orders of the last minute are counted. Instances' clocks may differ, so all use the store's clock, which
 * dates its answers.
 */

export interface StoreTime {
  /** The store's time in milliseconds since the epoch, estimated from its answers; before the first, the instance's own. */
  now(): number;
  /**
   * Adjusts the estimate after an answer.
   *
   * @param date the store's date of the answer, in whole seconds, as milliseconds since the epoch
   * @param askedAt when the store was asked and answered, by this instance's clock
   */
  dated(date: number, askedAt: number, answeredAt: number): void;
}

/** Slowest answer that is used; a slower one shows the time too inexactly. Reads of controls, before each order, are faster. */
const maxAnswerMs = 1000;
/** Largest difference between two instances' times: each is uncertain by a date's second and the time of an answer. */
export const storeTimeSpreadMs = 2 * (1000 + maxAnswerMs);

/**
 * Creates a store time. It corrects the instance's clock only when that contradicts the dates, so that instances with right
 * clocks agree as closely as their clocks do.
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
