/**
 * Orders of the simulated accounts before the first request. They are orders like any other, so that positions, cash and
 * history agree. Ids and days are the same for every seed and can be written into a note.
 */

import type { Universe } from '../market/universe.ts';
import { money } from '../numbers-and-times.ts';
import { parseQuantity } from './amounts.ts';
import { assetOf, currentPrice } from './order-asset.ts';
import type { OrderBook } from './order-book.ts';
import { LiveOrder } from './order-life.ts';
import type { NewOrder } from './stored-order.ts';

interface PastOrder {
  /** Time in UTC. */
  readonly at: string;
  readonly clientOrderId: string;
  readonly order: Partial<NewOrder> & Pick<NewOrder, 'symbol' | 'quantity'>;
  /** Sets a limit a little above the price of that moment. */
  readonly limited?: true;
}

const commonTerms = {
  combo_type: 'NORMAL',
  instrument_type: 'EQUITY',
  entrust_type: 'QTY',
  market: 'US',
  side: 'BUY',
  order_type: 'MARKET',
  time_in_force: 'DAY',
  support_trading_session: 'CORE',
} as const satisfies Partial<NewOrder>;

const callOf = (strike: string, side: 'BUY' | 'SELL') => ({
  side,
  market: 'US' as const,
  instrument_type: 'OPTION' as const,
  symbol: 'MSFT',
  quantity: '1',
  strike_price: strike,
  option_expire_date: '2027-01-15',
  option_type: 'CALL' as const,
});

/** Limits far below any price, so that only a call ever ends the order. */
const standingTerms = {
  symbol: 'AAPL',
  quantity: '10',
  order_type: 'LIMIT',
  limit_price: '1.00',
  time_in_force: 'GTC',
} as const;

const pastOrders: readonly PastOrder[] = [
  {
    at: '2026-08-12T14:20:05Z',
    clientOrderId: 'gw-20260812-000004',
    order: { symbol: 'AAPL', quantity: '15' },
  },
  {
    at: '2026-09-09T15:02:41Z',
    clientOrderId: 'gw-20260909-000011',
    order: {
      symbol: 'MSFT',
      quantity: '1',
      instrument_type: 'OPTION',
      option_strategy: 'VERTICAL',
      legs: [callOf('520', 'BUY'), callOf('540', 'SELL')],
    },
  },
  {
    at: '2026-09-23T16:44:12Z',
    clientOrderId: 'gw-20260923-000007',
    order: { symbol: 'MSFT', quantity: '40' },
  },
  {
    at: '2026-10-02T13:58:30Z',
    clientOrderId: 'gw-20261002-000002',
    order: { symbol: 'MSFT', quantity: '10', side: 'SELL' },
  },
  {
    at: '2026-10-14T14:00:00Z',
    clientOrderId: 'gw-20261014-000031',
    order: { symbol: 'AAPL', quantity: '10', order_type: 'LIMIT' },
    limited: true,
  },
  { at: '2026-10-20T14:00:00Z', clientOrderId: 'gw-20261020-000001', order: standingTerms },
  { at: '2026-10-20T14:00:10Z', clientOrderId: 'gw-20261020-000002', order: standingTerms },
  { at: '2026-10-20T14:00:20Z', clientOrderId: 'gw-20261020-000003', order: standingTerms },
];

/** Executes an account's past. Its positions exist at any time of the clock. */
export function bringPast(accountId: string, book: OrderBook, universe: Universe): void {
  for (const { at, clientOrderId, order: more, limited } of pastOrders) {
    const placedAt = Date.parse(at);
    let order: NewOrder = { ...commonTerms, ...more, client_order_id: clientOrderId };
    const asset = assetOf(order, universe, placedAt);
    if ('error_code' in asset) throw new Error(`${clientOrderId}: ${asset.message}`);
    if (limited) order = { ...order, limit_price: money(currentPrice(asset, placedAt) + 10) };
    const stored = { accountId, clientOrderId, orderId: book.nextIdentifier(), placedAt, order };
    book.add([new LiveOrder(stored, asset, parseQuantity(order.quantity)!, false)]);
    // Settles after each order, so that its fills come before the next is placed.
    book.settle(placedAt + 10_000);
  }
  book.endPast();
}
