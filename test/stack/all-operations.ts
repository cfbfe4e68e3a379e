/**
 * Every operation of the interface with its routes, before each has an entry in the catalogue: for measuring
 * what a stack of all of them is. One line each: group, id (with ! for a side effect), method, path, aliases,
 * and after ? the required query parameters.
 */

import * as v from 'valibot';
import type { Group, Operation } from '../../lib/catalogue/index.ts';

const table = `
accounts listAccounts GET /trading/accounts/list /openapi/account/list
accounts getAccountBalance GET /trading/assets/balances/get /openapi/assets/balance ? account_id
accounts listAccountPositions GET /trading/assets/positions/list /openapi/assets/positions ? account_id
orders placeOrder! POST /trade/place_order /trading/orders/place /openapi/trade/order/place /openapi/trade/stock/order/place /openapi/trade/option/order/place
orders previewOrder POST /trading/orders/preview /openapi/trade/order/preview /openapi/trade/stock/order/preview /openapi/trade/option/order/preview
orders replaceOrder! POST /trading/orders/replace /openapi/trade/order/replace /openapi/trade/stock/order/replace /openapi/trade/option/order/replace
orders cancelOrder! POST /trading/orders/cancel /openapi/trade/order/cancel /openapi/trade/stock/order/cancel /openapi/trade/option/order/cancel
orders batchPlaceOrders! POST /trading/orders/batch-place /openapi/trade/order/batch-place
orders getOrder GET /trading/orders/get /openapi/trade/order/detail ? account_id client_order_id
orders listOpenOrders GET /trading/orders/open-orders/list ? account_id
orders listOrderHistory GET /trading/orders/historical-orders/list ? account_id
auth createToken! POST /auth/tokens/create /openapi/auth/token/create
auth checkToken POST /auth/tokens/check /openapi/auth/token/check
instruments listStockInstruments GET /trading/instruments/stocks/profiles/list ? category
instruments getStockInstrument GET /openapi/instrument/stock/list ? category
instruments listOptionContracts GET /trading/instruments/options/contracts/list ? category
market-data getStockSnapshots GET /openapi/market-data/stock/snapshot /market-data/stocks/snapshots/list ? symbols category
market-data listStockBars POST /market-data/stocks/bars/list /openapi/market-data/stock/batch-bars
market-data getStockBars GET /market-data/stocks/bars/get /openapi/market-data/stock/bars ? symbol category timespan
market-data getStockQuotes GET /market-data/stocks/depths/list /openapi/market-data/stock/quotes ? symbol category
market-data listStockTicks GET /market-data/stocks/ticks/list /openapi/market-data/stock/tick ? symbol category count
market-data listStockFootprints GET /market-data/stocks/footprints/list /openapi/market-data/stock/footprint ? symbols category timespan
market-data getStockNoiiSnapshot GET /market-data/stocks/noii-snapshots/list /openapi/market-data/stock/noii/snapshot ? symbol category imbalance_action_type
market-data listStockNoiiBars GET /market-data/stocks/noii-bars/list /openapi/market-data/stock/noii/bars ? symbol category imbalance_action_type
market-data listOptionBars GET /market-data/options/bars/list ? symbols category timespan
market-data getOptionSnapshots GET /market-data/options/snapshots/list /openapi/market-data/option/snapshot ? symbols category
market-data listOptionTicks GET /market-data/options/ticks/list /openapi/market-data/option/tick ? symbol category count
screeners listGainersLosers GET /market-data/screeners/gainers-losers/list ? rank_type category sort_by
screeners listTopActive GET /market-data/screeners/top-actives/list ? category
screeners listMarketSectors GET /market-data/screeners/market-sectors/list ? category
screeners getMarketSectorDetail GET /market-data/screeners/market-sectors/get ? sector_id category
screeners listHighDividendRank GET /market-data/screeners/high-dividend-ranks/list ? category
screeners listWeek52HighLow GET /market-data/screeners/week52-high-low/list ? category
watchlists listWatchlists GET /market-data/watchlists/list /openapi/market-data/watchlist/list
watchlists createWatchlist! POST /market-data/watchlists/create /openapi/market-data/watchlist/create
watchlists updateWatchlist! POST /market-data/watchlists/update /openapi/market-data/watchlist/update
watchlists deleteWatchlist! POST /market-data/watchlists/delete /openapi/market-data/watchlist/delete
watchlists listWatchlistInstruments GET /market-data/watchlists/instruments/list /openapi/market-data/watchlist/instruments/list ? watchlist_id
watchlists addWatchlistInstruments! POST /market-data/watchlists/instruments/add /openapi/market-data/watchlist/instruments/add
watchlists removeWatchlistInstruments! POST /market-data/watchlists/instruments/remove /openapi/market-data/watchlist/instruments/remove
watchlists updateWatchlistInstruments! POST /market-data/watchlists/instruments/update /openapi/market-data/watchlist/instruments/update
fundamentals getCompanyProfile GET /market-data/fundamentals/company-profiles/get /openapi/instrument/company/profile ? symbol category
fundamentals getAnalystTargetPrice GET /market-data/fundamentals/analysis/target-prices/get /openapi/instrument/analyst/target-price ? symbol category
fundamentals getAnalystRating GET /market-data/fundamentals/analysis/ratings/get /openapi/instrument/analyst/rating ? symbol category
fundamentals getForecastEps GET /market-data/fundamentals/forecast-eps/get /openapi/fundamentals/stock/forecast-eps ? symbol category
fundamentals listFilings GET /market-data/fundamentals/filings/list /openapi/fundamentals/stock/filings ? symbol category
fundamentals listEarningsCalendar GET /market-data/fundamentals/earnings-calendars/list /openapi/fundamentals/stock/earnings-calendar ? symbol category
fundamentals listDividendCalendar GET /market-data/fundamentals/dividend-calendars/list /openapi/fundamentals/stock/dividend-calendar ? symbol category
fundamentals getCapitalFlow GET /market-data/fundamentals/capital-flows/get /openapi/fundamentals/stock/capital-flow ? symbol category
fundamentals getIndustryComparison GET /market-data/fundamentals/industry-comparisons/get /openapi/fundamentals/stock/industry-comparison ? symbol category
fundamentals getFinancialIndicators GET /market-data/fundamentals/indicators/get /openapi/fundamentals/financial/indicators ? symbol category
fundamentals getIncomeStatement GET /market-data/fundamentals/income-statements/get /openapi/fundamentals/financial/income ? symbol category
fundamentals getCashFlowStatement GET /market-data/fundamentals/cash-flows/get /openapi/fundamentals/financial/cash-flow ? symbol category
fundamentals getBalanceSheet GET /market-data/fundamentals/balance-sheets/get /openapi/fundamentals/financial/balance-sheet ? symbol category
fundamentals getFinancialAlert GET /market-data/fundamentals/financial-alerts/get /openapi/fundamentals/financial/alert ? symbol category
fundamentals getFundAllocations GET /market-data/fundamentals/fund-allocations/get /openapi/fundamentals/fund/allocation ? symbol category
fundamentals getFundBrief GET /market-data/fundamentals/fund-brief/get /openapi/fundamentals/fund/brief ? symbol category
fundamentals getFundDividends GET /market-data/fundamentals/fund-dividends/get ? symbol category
fundamentals getFundFiles GET /market-data/fundamentals/fund-files/get /openapi/fundamentals/fund/files ? symbol category
fundamentals getFundHoldings GET /market-data/fundamentals/fund-holdings/get /openapi/fundamentals/fund/holdings ? symbol category
fundamentals getFundNetValues GET /market-data/fundamentals/fund-net-values/get /openapi/fundamentals/fund/net-value ? symbol category
fundamentals getFundPerformance GET /market-data/fundamentals/fund-performances/get /openapi/fundamentals/fund/performance ? symbol category
fundamentals getFundRatings GET /market-data/fundamentals/fund-ratings/get /openapi/fundamentals/fund/rating ? symbol category
fundamentals getFundSplits GET /market-data/fundamentals/fund-splits/get /openapi/fundamentals/fund/splits ? symbol category
`;

export const allOperations: readonly Operation[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [routes = '', parameters = ''] = line.split(' ? ');
    const [group = '', id = '', method, path = '', ...aliases] = routes.split(' ');
    return {
      id: id.replace('!', ''),
      group: group as Group,
      title: id.replace('!', ''),
      method: method === 'POST' ? 'POST' : 'GET',
      path,
      aliases,
      query: Object.fromEntries(parameters.split(' ').filter(Boolean).map(requiredText)),
      response: v.unknown(),
      ...(id.endsWith('!') && { sideEffect: { findOut: 'Read it.' } }),
      sources: { path: [], request: [], response: [] },
    };
  });

/** A function declaration, because the table above is read while this module is loaded. */
function requiredText(name: string) {
  return [name, { schema: v.string(), required: true, description: '', allowed: 'a text' }] as const;
}
