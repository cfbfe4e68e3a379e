let orders = 0;

/** An order that the simulated upstream accepts, under an id of its own. */
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
  time_in_force: 'DAY',
  ...change,
});
