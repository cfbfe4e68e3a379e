/** Fundamentals of companies and funds. */

export {
  getFinancialAlert,
  listDividendCalendar,
  listEarningsCalendar,
  listFilings,
} from './calendars.ts';
export {
  getAnalystRating,
  getAnalystTargetPrice,
  getCapitalFlow,
  getCompanyProfile,
  getForecastEps,
  getIndustryComparison,
} from './company.ts';
export {
  getFundAllocations,
  getFundBrief,
  getFundDividends,
  getFundFiles,
  getFundHoldings,
  getFundNetValues,
  getFundPerformance,
  getFundRatings,
  getFundSplits,
} from './funds.ts';
export {
  getBalanceSheet,
  getCashFlowStatement,
  getFinancialIndicators,
  getIncomeStatement,
} from './statements.ts';
