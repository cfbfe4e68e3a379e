/** A good call of each operation, for tests that go through all of them. */

import { operations } from '../../lib/catalogue/index.ts';
import { accountId, type Draft, newOrder } from './core.ts';

export interface GoodCall extends Draft {
  readonly body?: string;
  /** With its question mark; empty when there are no parameters. */
  readonly search: string;
}

/** Sends what must have happened before a call can be good, and gives the answer. */
export type Prepare = (path: string, body: unknown) => Promise<unknown>;

/** The catalogue's example, but of what can be done only once a variant that can be done each time. */
export async function callOf(operationId: string, prepare: Prepare): Promise<GoodCall> {
  const variant = Object.hasOwn(variants, operationId) ? variants[operationId] : undefined;
  if (variant) return { search: '', body: JSON.stringify(await variant(prepare)) };
  const operation = operations.find(({ id }) => id === operationId);
  if (!operation) throw new Error(`${operationId} is not in the catalogue`);
  const { query = {}, body } = operation.example;
  // As clients encode, and as the gateway sends it.
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return {
    search: pairs.length > 0 ? `?${pairs.join('&')}` : '',
    ...(operation.body && { body: JSON.stringify(body) }),
  };
}

/** Far below the market, so that it stays open. */
const standingOrder = () =>
  newOrder({ order_type: 'LIMIT', limit_price: '1.00', quantity: '10', time_in_force: 'GTC' });

async function placed(prepare: Prepare): Promise<string> {
  const order = standingOrder();
  await prepare('/trade/place_order', { account_id: accountId, new_orders: [order] });
  return order.client_order_id;
}

const variants: Readonly<Record<string, (prepare: Prepare) => unknown>> = {
  placeOrder: () => ({ account_id: accountId, new_orders: [newOrder()] }),
  batchPlaceOrders: () => ({
    account_id: accountId,
    // Batches take nothing but DAY; after hours the order is refused, in an answer of 200.
    batch_orders: [newOrder({ time_in_force: 'DAY' })],
  }),
  replaceOrder: async (prepare) => ({
    account_id: accountId,
    modify_orders: [{ client_order_id: await placed(prepare), limit_price: '1.10', quantity: '8' }],
  }),
  cancelOrder: async (prepare) => ({ account_id: accountId, client_order_id: await placed(prepare) }),
  deleteWatchlist: async (prepare) => {
    const made = await prepare('/market-data/watchlists/create', { name: 'To be deleted' });
    return { watchlist_id: (made as { watchlist_id: string }).watchlist_id };
  },
};
