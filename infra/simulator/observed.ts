/**
 * Observations of the live upstream that its interface text lacks or contradicts. The simulator behaves likewise, and takes
 * its codes and figures from here. Each row has a test with the row's fact as its name.
 */

/** Notes that the authors of an independent client made at the broker's live sandbox in September 2026. */
const sandbox = 'live sandbox';

const seen = <const Facts extends object>(fact: string, facts: Facts = {} as Facts) => ({
  fact,
  source: sandbox,
  ...facts,
});

export const observed = {
  nulls: seen('an explicit null for an optional member of an order is accepted'),
  sessionOfStocks: seen(
    'US equity orders without support_trading_session are refused (417); for options it is optional',
  ),
  lengthOfOrderIds: seen('client_order_id: the server wants 10 to 40 characters'),
  usedOrderId: seen(
    'client_order_id is used up once an order is accepted; reuse: OPENAPI_TRADE_PLACE_ORDER_REPEAT',
    { status: 417, code: 'OPENAPI_TRADE_PLACE_ORDER_REPEAT' },
  ),
  refusedOrderId: seen('a refused placement does not use the client_order_id up'),
  legSymbol: seen('an option leg’s symbol is the OCC root'),
  groupAnswer: seen(
    'a group answers combo_order_id and client_combo_order_id only; parts carry their role as combo_type',
  ),
  groupCancel: seen(
    'cancelling an unfilled master cancels the group, its children then give OPENAPI_ORDER_NOT_FOUND',
    { status: 417, code: 'OPENAPI_ORDER_NOT_FOUND' },
  ),
  exitCancel: seen('once the master is filled, exits are cancelled one by one'),
  optionTerms: seen(
    'options: IOC, FOK and fractional leg quantities are refused; trailing stops are refused',
  ),
  trailingTypes: seen('trailing types AMOUNT, PERCENTAGE, case-sensitive'),
  dayOrder: seen(
    'a DAY order after the regular session: 417 OPENAPI_DAY_ORDER_NOT_ALLOWED_AFT_CORE_TIME_LIMIT',
    { status: 417, code: 'OPENAPI_DAY_ORDER_NOT_ALLOWED_AFT_CORE_TIME_LIMIT' },
  ),
  aroundTheClock: seen('GTC and previews work around the clock'),
  historyLag: seen('order history lags: right after a cancel get says CANCELLED and history PENDING'),
  lastPage: seen('pagination_key is absent on the last page'),
  absentNumbers: seen('an unreported number is "" or null (greeks outside market hours)'),
  timeOfSnapshots: seen('integer milliseconds (snapshots)'),
  timeOfTicks: seen('milliseconds in a string (ticks)'),
  timeOfBars: seen('ISO 8601 with +0000 (bars)'),
  timeOfDays: seen('yyyyMMdd (capital flow)'),
  snapshotMembers: seen('undocumented snapshot members'),
  otherMembers: seen('undocumented members: trading_session of ticks, currency of previews'),
  instrumentId: seen('option ticks name instrumentId; everything else instrument_id'),
  balanceForms: seen('open_margin_calls is a list; day_trades_left may be "UNLIMITED"'),
  watchlistChanges: seen('watchlist changes answer a bare true/false; false with 200 is a failure'),
  optionBars: seen('option bars come as a bare array'),
  pathFamilies: seen('both path families (/trading/… and /openapi/…) are live aliases'),
  shapeOfTrading: seen('{error_code, message} (trading)'),
  shapeOfMarketData: seen('{error_code, message, status} (market data)'),
  shapeOfFrontServer: seen('{error_msg} (unrouted path)'),
  shapeOfWebServer: seen('{timestamp, status, error, message, path}'),
  wrongParameter: seen('wrong parameters: 417 with OPENAPI_PARAM_ERR', {
    status: 417,
    code: 'OPENAPI_PARAM_ERR',
  }),
  wrongValue: seen(
    'wrong values of market data: 417 ILLEGAL_PARAMETER, UNSUPPORTED_CATEGORY, UNSUPPORTED_PERIOD',
    {
      status: 417,
      code: 'ILLEGAL_PARAMETER',
      category: 'UNSUPPORTED_CATEGORY',
      period: 'UNSUPPORTED_PERIOD',
    },
  ),
  sectorPeriods: seen('sector periods are MO1, MO3 with the letter O'),
  unroutedBars: seen('single-symbol stock bars path answers 404', { operations: ['getStockBars'] }),
  foreignKey: seen('a key of the other environment: 404 Route Not Found on every path, not 401', {
    message: 'Route Not Found',
  }),
  noKey: seen('no key: 401 MISSING_APP_KEY', { status: 401, code: 'MISSING_APP_KEY' }),
  foreignAccount: seen('account not one’s own: 403 ACCOUNT_ACCESS_DENIED', {
    status: 403,
    code: 'ACCOUNT_ACCESS_DENIED',
  }),
  noSubscription: seen(
    'no data subscription: 403 MARKET_DATA_NOT_SUBSCRIBED, the product named in the message',
    { status: 403, code: 'MARKET_DATA_NOT_SUBSCRIBED' },
  ),
  depth: seen('depth above one’s level: 417'),
  accountsList: seen(
    'GET /trading/accounts/list: 429 TOO_MANY_REQUESTS after about eight calls in quick succession',
    { status: 429, code: 'TOO_MANY_REQUESTS' },
  ),
  tokenLife: seen('PENDING, then NORMAL, which opens the operations; a life of 15 days, prolonged by use', {
    days: 15,
  }),
  tokenApproval: seen('the owner confirms within 5 minutes, or never', { minutes: 5 }),
} as const;
