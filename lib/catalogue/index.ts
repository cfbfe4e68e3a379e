/** The catalogue: every operation of the interface, once. */

import * as accounts from './accounts.ts';
import { allOrders } from './all-orders.ts';
import * as auth from './auth.ts';
import * as config from './config.ts';
import { fundamentals } from './fundamentals/index.ts';
import * as instruments from './instruments.ts';
import { legacy } from './legacy/index.ts';
import { marketData } from './market-data/index.ts';
import * as marketStream from './market-stream.ts';
import type { Operation } from './operation.ts';
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
export { getConfig } from './config.ts';
export { exposedOperations, openable, openByDefault } from './exposure.ts';
export {
  getFinancialAlert,
  listDividendCalendar,
  listEarningsCalendar,
  listFilings,
} from './fundamentals/calendars.ts';
export {
  getAnalystRating,
  getAnalystTargetPrice,
  getCapitalFlow,
  getCompanyProfile,
  getForecastEps,
  getIndustryComparison,
} from './fundamentals/company.ts';
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
} from './fundamentals/funds.ts';
export {
  getBalanceSheet,
  getCashFlowStatement,
  getFinancialIndicators,
  getIncomeStatement,
} from './fundamentals/statements.ts';
export { type Exposure, type Group, type GroupFacts, groups } from './groups.ts';
export {
  getStockInstrument,
  listOptionContracts,
  listStockInstruments,
} from './instruments.ts';
export {
  type EndpointKind,
  type EndpointLimits,
  type LimitName,
  type LimitPreset,
  limits,
  type RequestLimit,
  type UpstreamLimits,
} from './limits.ts';
export { getStockBars, listStockBars } from './market-data/bars.ts';
export { getOptionSnapshots } from './market-data/option-snapshots.ts';
export { listOptionBars, listOptionTicks } from './market-data/options.ts';
export { getStockSnapshots } from './market-data/snapshots.ts';
export {
  getStockNoiiSnapshot,
  getStockQuotes,
  listStockFootprints,
  listStockNoiiBars,
  listStockTicks,
} from './market-data/trades.ts';
export { subscribeMarketData, unsubscribeMarketData } from './market-stream.ts';
export type { Note, Source } from './notes.ts';
export type { Example, Operation, Paging } from './operation.ts';
export { cancelOrder } from './order-cancels.ts';
export { getOrderOutcome } from './order-outcomes.ts';
export { getOrder, listOpenOrders, listOrderHistory } from './order-reads.ts';
export {
  batchPlaceOrders,
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

/** Entries by group; each file exports only operations of its group. Older forms stand after all current ones. */
const groupsOfEntries = [
  config,
  accounts,
  allOrders,
  auth,
  instruments,
  marketData,
  marketStream,
  screeners,
  watchlists,
  fundamentals,
  legacy,
] as const;

const byId = (a: Operation, b: Operation) => (a.id < b.id ? -1 : 1);

/** Every operation. Sorted here, because not every loader sorts the exports of a module by name. */
export const operations: readonly Operation[] = groupsOfEntries.flatMap((entries) =>
  Object.values<Operation>(entries).sort(byId),
);
