/** Orders: replacing the unfilled part, and cancelling it. */

import type { cancelOrder, replaceOrder } from '../../../lib/catalogue/index.ts';
import type { BodyIn } from '../parameters.ts';
import { parameterError, type Rejection, refuse } from '../refusal.ts';
import type { Quantity } from '../trading/amounts.ts';
import type { FoundOrder } from '../trading/order-book.ts';
import type { LiveOrder } from '../trading/order-life.ts';
import type { NewOrder } from '../trading/stored-order.ts';
import type { World } from '../world.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';
import { checkFigures, ofAccount } from './order-checks.ts';
import { orderNotFound } from './order-views.ts';

type OrderModification = BodyIn<typeof replaceOrder>['modify_orders'][number];

interface Replacement {
  readonly found: FoundOrder;
  readonly terms: NewOrder;
  readonly total: Quantity;
}

export const orderChanges: Behaviours = {
  /** Checks all changes before it makes the first. */
  replaceOrder: ofAccount((account, { body, now }, world) => {
    const { modify_orders: changes } = body as BodyIn<typeof replaceOrder>;
    const all: Replacement[] = [];
    for (const change of changes) {
      const replacement = checkChange(change, account.account_id, world, now);
      if (isRefusal(replacement)) return replacement;
      all.push(replacement);
    }
    for (const { found, terms, total } of all) world.orders.replace(found, terms, total, now);
    const [{ found }] = all as [Replacement];
    return answer(all.length === 1 ? idsOf(found.order) : groupIdsOf(found));
  }),

  cancelOrder: ofAccount(({ account_id: id }, { body, now }, world) => {
    const request = body as BodyIn<typeof cancelOrder>;
    const { client_order_id: clientOrderId, client_combo_order_id: comboId } = request;
    const found = world.orders.find(id, clientOrderId);
    if (!found) return orderNotFound(clientOrderId);
    if (comboId !== undefined && comboId !== found.group.clientComboOrderId)
      return parameterError('client_combo_order_id');
    if (!found.order.isOpen) return endedRefusal(found.order);
    // The combination's id cancels all of its parts, until its master is filled.
    const one = comboId === undefined || found.group.isPastMaster;
    world.orders.cancel(found, one ? [found.order] : found.group.orders, now);
    return answer(idsOf(found.order));
  }),
};

function checkChange(
  change: OrderModification,
  accountId: string,
  world: World,
  now: number,
): Replacement | Rejection {
  const { client_order_id: clientOrderId, legs, ...changed } = change;
  const found = world.orders.find(accountId, clientOrderId);
  if (!found) return orderNotFound(clientOrderId);
  const { order } = found;
  if (!order.isOpen) return endedRefusal(order);
  // The ratio of the legs stays; a change applies to all of them together.
  if (legs !== undefined && order.asset.kind !== 'OPTION') return parameterError('legs');
  // A member that was sent as null is undefined here and changes nothing.
  const sent = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
  const terms = {
    ...order.terms,
    ...sent,
    ...(change.quantity !== undefined && { entrust_type: 'QTY' }),
  } as NewOrder;
  const newTotal = checkFigures(terms, order.asset, now);
  if (typeof newTotal !== 'bigint') return newTotal;
  const total = change.quantity === undefined ? order.total : newTotal;
  return total > order.filled ? { found, terms, total } : parameterError('quantity');
}

const endedRefusal = ({ status, stored }: LiveOrder): Rejection =>
  refuse(417, 'ORDER_STATUS_ILLEGAL', `The order is ${status} already, ${stored.clientOrderId}`);

const idsOf = ({ stored }: LiveOrder) => ({
  client_order_id: stored.clientOrderId,
  order_id: stored.orderId,
});

const groupIdsOf = ({ group }: FoundOrder) => ({
  client_combo_order_id: group.clientComboOrderId,
  combo_order_id: group.comboOrderId,
});
