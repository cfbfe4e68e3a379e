/**
 * Times for which a cached answer may be served. They follow the events that change the data: trades, a session, a filing.
 */

export interface Freshness {
  /** Seconds for which an answer is served without a new request. With 0, and no `staleSeconds`, it is not cached. */
  readonly seconds: number;
  /** Seconds after that for which it is served while one caller's request renews it; 0 when absent. */
  readonly staleSeconds?: number;
  /** Seconds by the value of a parameter, if they depend on it. */
  readonly by?: { readonly parameter: string; readonly seconds: Readonly<Record<string, number>> };
}

/** Data that changes with every trade. */
export const live: Freshness = { seconds: 1, staleSeconds: 4 };
/** A ranking or a total of the running session. */
export const session: Freshness = { seconds: 10, staleSeconds: 50 };
/** Data that changes a few times a day. */
export const hourly: Freshness = { seconds: 3600, staleSeconds: 6 * 3600 };
/** Data that changes with a filing, a rating, a fund's report. */
export const daily: Freshness = { seconds: 86_400, staleSeconds: 2 * 86_400 };

/**
 * List of the app key's accounts and their kinds; it changes when the holder opens or closes an account. About eight calls
 * in quick succession were seen to be refused.
 */
export const accountList: Freshness = { seconds: 60, staleSeconds: 240 };

/**
 * Holdings, orders and watchlists of an account. The gateway ends these answers with every change that passes through it.
 * The vendor's table allows two order queries in two seconds for all accounts together: fifteen seconds leave time for the
 * queries of other accounts, and the answer states its age.
 */
export const accountState: Freshness = { seconds: 2, staleSeconds: 13 };

/** Caches nothing: equal requests only share the one that is under way in their instance. */
export const onlyUnderWay: Freshness = { seconds: 0 };

/** Bars: an unfinished bar changes with every trade, but the longer its span, the smaller the change. */
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
