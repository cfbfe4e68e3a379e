/**
 * The freshness of each operation whose answer is the same for every caller; the snapshots, which are shared
 * symbol by symbol, and whatever belongs to one account have none. Values follow how the data comes about:
 * what trades change, what a session changes, what a filing changes.
 */

import type { Freshness } from './freshness.ts';

/** Changes with every trade. */
const live: Freshness = { seconds: 1, staleSeconds: 4 };
/** A ranking or a total of the running session. */
const session: Freshness = { seconds: 10, staleSeconds: 50 };
/** Changes a few times a day. */
const hourly: Freshness = { seconds: 3600, staleSeconds: 6 * 3600 };
/** Changes with a filing, a rating, a fund's report. */
const daily: Freshness = { seconds: 86_400, staleSeconds: 2 * 86_400 };

/** A bar that is not over changes with every trade, but the longer it is the less it does. */
const bars: Freshness = {
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

export const freshnessOf: Readonly<Record<string, Freshness>> = {
  listStockBars: bars,
  getStockBars: bars,
  listStockFootprints: bars,
  listOptionBars: bars,
  getStockQuotes: live,
  listStockTicks: live,
  getOptionSnapshots: live,
  listOptionTicks: live,
  // New values every five seconds near the auctions.
  getStockNoiiSnapshot: { seconds: 2, staleSeconds: 8 },
  listStockNoiiBars: { seconds: 5, staleSeconds: 10 },

  listGainersLosers: session,
  listTopActive: session,
  listMarketSectors: session,
  getMarketSectorDetail: session,
  listHighDividendRank: { seconds: 300, staleSeconds: 900 },
  listWeek52HighLow: { seconds: 30, staleSeconds: 120 },

  listStockInstruments: hourly,
  getStockInstrument: hourly,
  listOptionContracts: hourly,

  getCompanyProfile: daily,
  getAnalystTargetPrice: hourly,
  getAnalystRating: hourly,
  getForecastEps: hourly,
  getCapitalFlow: { seconds: 60, staleSeconds: 240 },
  getIndustryComparison: hourly,

  getFinancialIndicators: daily,
  getIncomeStatement: daily,
  getCashFlowStatement: daily,
  getBalanceSheet: daily,

  listFilings: { seconds: 300, staleSeconds: 900 },
  listEarningsCalendar: hourly,
  listDividendCalendar: hourly,
  getFinancialAlert: { seconds: 60, staleSeconds: 240 },

  getFundAllocations: daily,
  getFundBrief: hourly,
  getFundDividends: daily,
  getFundFiles: daily,
  getFundHoldings: daily,
  getFundNetValues: hourly,
  getFundPerformance: hourly,
  getFundRatings: daily,
  getFundSplits: daily,
};
