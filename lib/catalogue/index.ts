/** The catalogue: every operation of the interface, once. */

import * as accounts from './accounts.ts';
import * as auth from './auth.ts';
import * as fundamentals from './fundamentals/index.ts';
import * as instruments from './instruments.ts';
import * as marketData from './market-data/index.ts';
import type { Operation } from './operation.ts';
import * as orders from './orders.ts';
import * as screeners from './screeners.ts';
import * as watchlists from './watchlists.ts';

export {
  getAccountBalance,
  listAccountPositions,
  listAccounts,
} from './accounts.ts';
export {
  checkToken,
  createToken,
} from './auth.ts';
export { exposedOperations, openable, openByDefault } from './exposure.ts';
export {
  getAnalystRating,
  getAnalystTargetPrice,
  getBalanceSheet,
  getCapitalFlow,
  getCashFlowStatement,
  getCompanyProfile,
  getFinancialAlert,
  getFinancialIndicators,
  getForecastEps,
  getFundAllocations,
  getFundBrief,
  getFundDividends,
  getFundFiles,
  getFundHoldings,
  getFundNetValues,
  getFundPerformance,
  getFundRatings,
  getFundSplits,
  getIncomeStatement,
  getIndustryComparison,
  listDividendCalendar,
  listEarningsCalendar,
  listFilings,
} from './fundamentals/index.ts';
export { type Exposure, type Group, type GroupFacts, groups } from './groups.ts';
export {
  getStockInstrument,
  listOptionContracts,
  listStockInstruments,
} from './instruments.ts';
export { type LimitName, limits, type RequestLimit } from './limits.ts';
export {
  getOptionSnapshots,
  getStockBars,
  getStockNoiiSnapshot,
  getStockQuotes,
  getStockSnapshots,
  listOptionBars,
  listOptionTicks,
  listStockBars,
  listStockFootprints,
  listStockNoiiBars,
  listStockTicks,
} from './market-data/index.ts';
export type { Example, Operation, Paging, Source } from './operation.ts';
export {
  batchPlaceOrders,
  cancelOrder,
  getOrder,
  listOpenOrders,
  listOrderHistory,
  placeOrder,
  previewOrder,
  replaceOrder,
} from './orders.ts';
export type { JsonForm, Parameter } from './parameters.ts';
export { appPlan, type PlanTier, planOfTier, planTiers, planWithin, type UsagePlan } from './plans.ts';
export { findRoute, type Route, type RouteMatch, routesOf } from './routes.ts';
export {
  getMarketSectorDetail,
  listGainersLosers,
  listHighDividendRank,
  listMarketSectors,
  listTopActive,
  listWeek52HighLow,
} from './screeners.ts';
export {
  addWatchlistInstruments,
  createWatchlist,
  deleteWatchlist,
  listWatchlistInstruments,
  listWatchlists,
  removeWatchlistInstruments,
  updateWatchlist,
  updateWatchlistInstruments,
} from './watchlists.ts';

/** The operations by group; a file's exported entries are the operations of its group. */
const files = [accounts, orders, auth, instruments, marketData, screeners, watchlists, fundamentals] as const;

const byId = (a: Operation, b: Operation) => (a.id < b.id ? -1 : 1);

/** Every operation. Sorted here, because not every loader sorts the exports of a module by name. */
export const operations: readonly Operation[] = files.flatMap((file) =>
  Object.values<Operation>(file).sort(byId),
);
