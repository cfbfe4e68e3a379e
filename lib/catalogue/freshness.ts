/**
 * How long a cached answer may be served. The values follow what changes the data: trades, a session, a filing.
 */

export interface Freshness {
  /** For how many seconds an answer is served without a new request; 0 with no `staleSeconds`: it is not kept. */
  readonly seconds: number;
  /** For how many seconds after that it is served while one caller's request renews it; 0 when absent. */
  readonly staleSeconds?: number;
  /** Where `seconds` depends on the value of a parameter. */
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

/**
 * Which accounts an app key has, and of which kind: changes when its holder opens or closes one. About eight calls in
 * quick succession were seen to be refused.
 */
export const accountList: Freshness = { seconds: 60, staleSeconds: 240 };

/**
 * What an account holds, or has ordered or listed. The gateway ends it with every change that passes through it. The
 * vendor's table allows two order queries in two seconds for all accounts together: fifteen seconds bridge the turns of
 * the other accounts, and the answer says its age.
 */
export const accountState: Freshness = { seconds: 2, staleSeconds: 13 };

/** Nothing is kept: equal requests share the one that is under way in their instance. */
export const onlyUnderWay: Freshness = { seconds: 0 };

/** An unfinished bar changes with every trade, but the longer its span the less. */
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
