/** Orders that tests place, and how the upstream answers what it takes. */

import type { Answer } from '../../lib/answer.ts';

/** @param value written as JSON */
export const answered = (value: unknown): Answer => ({
  kind: 'uncached',
  body: new TextEncoder().encode(JSON.stringify(value)),
});

/** How the upstream answers a placement or a change that it takes. */
export function takenAnswer(body: string): Answer {
  const { new_orders, batch_orders, modify_orders, client_combo_order_id, ...cancelled } = JSON.parse(body);
  const orders = new_orders ?? batch_orders ?? modify_orders ?? [cancelled];
  const named = orders.map((order: typeof cancelled) => ({
    client_order_id: order.client_order_id,
    order_id: '7',
  }));
  if (batch_orders)
    return answered({ total: named.length, success: named.length, failed: 0, batch_orders: named });
  const [{ combo_type = 'NORMAL' }] = orders;
  return answered(
    named.length > 1 || combo_type !== 'NORMAL'
      ? { client_combo_order_id: client_combo_order_id ?? 'made-by-the-upstream', combo_order_id: '8' }
      : named[0],
  );
}

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
