/**
 * How long an answer may stand for the upstream's next one. Values follow how the data comes about: what
 * trades change, what a session changes, what a filing changes.
 */

export interface Freshness {
  /** So long an answer is given without asking again, in seconds. */
  readonly seconds: number;
  /** So long after that it is given to everybody but the one who asks anew; 0 when absent. */
  readonly staleSeconds?: number;
  /** Where a parameter decides, by its value: `seconds` in place of the common one. */
  readonly by?: { readonly parameter: string; readonly seconds: Readonly<Record<string, number>> };
}

/** Changes with every trade. */
export const live: Freshness = { seconds: 1, staleSeconds: 4 };
/** A ranking or a total of the running session. */
export const session: Freshness = { seconds: 10, staleSeconds: 50 };
/** Changes a few times a day. */
export const hourly: Freshness = { seconds: 3600, staleSeconds: 6 * 3600 };
/** Changes with a filing, a rating, a fund's report. */
export const daily: Freshness = { seconds: 86_400, staleSeconds: 2 * 86_400 };

/** A bar that is not over changes with every trade, but the longer it is the less it does. */
export const bars: Freshness = {
  seconds: 5,
  staleSeconds: 10,
  by: {
    parameter: 'timespan',
    seconds: {
      S5: 2,
      S15: 3,
      M1: 5,
      M5: 5,
      M15: 10,
      M30: 15,
      M60: 15,
      M120: 30,
      M240: 30,
      D: 30,
      W: 60,
      M: 60,
      Y: 300,
    },
  },
};
