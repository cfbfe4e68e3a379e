/** Example orders of stock, without ids, that the simulated upstream accepts at any hour. */

/** Fills within seconds. */
export const filledOrder = {
  combo_type: 'NORMAL',
  symbol: 'AAPL',
  instrument_type: 'EQUITY',
  market: 'US',
  side: 'BUY',
  order_type: 'MARKET',
  quantity: '2',
  entrust_type: 'QTY',
  time_in_force: 'GTC',
  support_trading_session: 'CORE',
} as const;

/** Rests far below the market until it is changed or cancelled. */
export const restingOrder = { ...filledOrder, order_type: 'LIMIT', limit_price: '1.00' } as const;
