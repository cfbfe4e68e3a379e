/** Orders. */

import type * as v from 'valibot';
import type { placeOrder } from '../../../lib/catalogue/index.ts';
import type { NewOrder, StoredOrder } from '../order-book.ts';
import { parameterError, type Refusal, refuse } from '../refusal.ts';
import type { World } from '../world.ts';
import { answer, type Behaviours } from './behaviour.ts';

type Body = v.InferOutput<typeof placeOrder.body>;

export const orders: Behaviours = {
  placeOrder: (call, world) => {
    const body = call.body as Body;
    const refusal = checkOrders(body, world);
    if (refusal) return refusal;
    const { account_id: accountId, new_orders: asked, client_combo_order_id } = body;
    const combination = asked.length > 1 || asked[0]!.combo_type !== 'NORMAL';
    const comboOrderId = combination ? world.orders.nextIdentifier() : undefined;
    let orderId = '';
    for (const order of asked) {
      orderId = world.orders.nextIdentifier();
      const clientOrderId = order.client_order_id;
      const stored = { accountId, clientOrderId, orderId, placedAt: call.now, order };
      world.orders.add(comboOrderId === undefined ? stored : { ...stored, comboOrderId });
    }
    return answer(
      comboOrderId === undefined
        ? { client_order_id: asked[0]!.client_order_id, order_id: orderId }
        : { client_combo_order_id, combo_order_id: comboOrderId },
    );
  },

  getOrder: ({ query }, world) => {
    const { account_id: accountId = '', client_order_id: clientOrderId = '' } = query;
    const found = world.orders.find(accountId, clientOrderId);
    if (!found) return refuse(417, 'ORDER_NOT_FOUND', `No such order, ${clientOrderId}`);
    const { comboOrderId, order } = found;
    const parts =
      comboOrderId === undefined
        ? [found]
        : world.orders.all.filter((other) => other.comboOrderId === comboOrderId);
    return answer({
      client_order_id: clientOrderId,
      ...(comboOrderId !== undefined && { combo_order_id: comboOrderId }),
      combo_type: order.combo_type,
      orders: parts.map(shown),
    });
  },
};

/** As the order was asked for, and that nothing of it was filled yet. */
function shown({ order, orderId, placedAt }: StoredOrder): object {
  const { quantity, ...asked } = order;
  return {
    ...asked,
    order_id: orderId,
    status: 'SUBMITTED',
    total_quantity: quantity ?? '0',
    filled_quantity: '0',
    filled_price: null,
    place_time: placedAt,
    place_time_at: new Date(placedAt).toISOString(),
  };
}

/** All orders are checked before the first is stored: a request is executed as a whole or not at all. */
function checkOrders(body: Body, world: World): Refusal | undefined {
  if (!world.accounts.some((account) => account.account_id === body.account_id)) {
    return parameterError('account_id');
  }
  const asked = body.new_orders;
  const combination = asked.length > 1 || asked[0]!.combo_type !== 'NORMAL';
  if (combination && !body.client_combo_order_id) return parameterError('client_combo_order_id');
  const seen = new Set<string>();
  for (const order of asked) {
    if (combination && order.combo_type === 'NORMAL') return parameterError('combo_type');
    const id = order.client_order_id;
    if (seen.has(id) || world.orders.find(body.account_id, id)) return parameterError('client_order_id');
    seen.add(id);
    const refusal = checkOrder(order, world);
    if (refusal) return refusal;
  }
  return undefined;
}

function checkOrder(order: NewOrder, world: World): Refusal | undefined {
  if (order.instrument_type === 'EQUITY' && !world.universe.has(order.symbol)) {
    return refuse(417, 'INVALID_SYMBOL', `Symbol not known, ${order.symbol}`);
  }
  if (order.order_type.includes('LIMIT') && !isPositive(order.limit_price)) {
    return refuse(417, 'ORDER_PRICE_ILLEGAL', 'Price not accepted, limit_price');
  }
  if (['STOP_LOSS', 'STOP_LOSS_LIMIT'].includes(order.order_type) && !isPositive(order.stop_price)) {
    return refuse(417, 'ORDER_PRICE_ILLEGAL', 'Price not accepted, stop_price');
  }
  const amount = order.entrust_type === 'QTY' ? 'quantity' : 'total_cash_amount';
  return isPositive(order[amount]) ? undefined : parameterError(amount);
}

/** Only the sign is looked at, so a binary number is precise enough here. */
function isPositive(decimal: string | undefined): boolean {
  return decimal !== undefined && Number(decimal) > 0;
}
