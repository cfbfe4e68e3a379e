let orders = 0;

/** An order that the simulated upstream accepts at any hour, under an id of its own. */
export const newOrder = (change: Readonly<Record<string, unknown>> = {}) => ({
  client_order_id: `order-${String(++orders).padStart(6, '0')}`,
  combo_type: 'NORMAL',
  symbol: 'AAPL',
  instrument_type: 'EQUITY',
  market: 'US',
  side: 'BUY',
  order_type: 'MARKET',
  quantity: '1',
  entrust_type: 'QTY',
  // DAY is refused after the regular session, and some tests run on the machine's clock.
  time_in_force: 'GTC',
  support_trading_session: 'CORE',
  ...change,
});
