/** Orders: placing and previewing. */

import type { batchPlaceOrders, placeOrder, previewOrder } from '../../../lib/catalogue/index.ts';
import { observed } from '../observed.ts';
import type { BodyIn } from '../parameters.ts';
import { parameterError, type Rejection, refuseAsSeen } from '../refusal.ts';
import { dollarText } from '../trading/amounts.ts';
import { costOf } from '../trading/order-asset.ts';
import { follows } from '../trading/order-group.ts';
import { LiveOrder } from '../trading/order-life.ts';
import { feeOf } from '../trading/portfolio.ts';
import { completeOrder, type NewOrder } from '../trading/stored-order.ts';
import type { Holder, World } from '../world.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';
import { checkDay, checkMeans, checkTerms, type OrderPlan, ofAccount, previewPrice } from './order-checks.ts';

type PlaceOrderBody = BodyIn<typeof placeOrder>;

export const orders: Behaviours = {
  placeOrder: ofAccount((account, { body, now }, world) => {
    const { new_orders, client_combo_order_id: given } = body as PlaceOrderBody;
    const completeOrders = new_orders.map(completeOrder);
    if (!areComplete(completeOrders)) return parameterError('symbol');
    const combination = isCombination(completeOrders);
    const checked = checkAll(completeOrders, account, world, now);
    if (isRefusal(checked)) return checked;
    if (!combination) return answer(add(checked, account, world, now)[0]);
    const comboOrderId = world.orders.nextIdentifier();
    const clientComboOrderId = given ?? world.orders.nextIdentifier();
    add(checked, account, world, now, { comboOrderId, clientComboOrderId });
    return answer({ client_combo_order_id: clientComboOrderId, combo_order_id: comboOrderId });
  }),

  /** Treats each order by itself: a refused one holds back no other. */
  batchPlaceOrders: ofAccount((account, { body, now }, world) => {
    const { batch_orders: asked } = body as BodyIn<typeof batchPlaceOrders>;
    const results = asked.map((order) => {
      const checked = checkAll([{ ...order, combo_type: 'NORMAL' }], account, world, now);
      if (!isRefusal(checked)) return add(checked, account, world, now)[0]!;
      const { error_code, message } = checked;
      return { client_order_id: order.client_order_id, error_code, message };
    });
    const failed = results.filter((result) => 'error_code' in result).length;
    return answer({ total: results.length, success: results.length - failed, failed, batch_orders: results });
  }),

  /** Places nothing, so it checks neither the client's id nor the account's means. */
  previewOrder: ofAccount((_account, { body, now }, world) => {
    const { new_orders: asked } = body as BodyIn<typeof previewOrder>;
    let [cost, fee] = [0n, 0n];
    for (const order of asked) {
      const whole = completeOrder(order);
      if (!whole) return parameterError('symbol');
      const checked = checkTerms(whole, world, now);
      if (isRefusal(checked)) return checked;
      const { asset, total } = checked;
      const buys = order.side === 'BUY';
      const price = previewPrice(whole, asset, buys ? order.current_ask : order.current_bid, now);
      cost += costOf(asset, total, price);
      fee += feeOf(asset, total, Math.max(0, price), buys);
    }
    return answer({
      estimated_cost: dollarText(cost),
      estimated_transaction_fee: dollarText(fee),
      currency: 'USD',
    });
  }),
};

const areComplete = (orders: readonly (NewOrder | undefined)[]): orders is readonly NewOrder[] =>
  orders.every((order) => order !== undefined);

const isCombination = (asked: readonly NewOrder[]) => asked.length > 1 || asked[0]!.combo_type !== 'NORMAL';

/** Checks all orders before the first is stored: a request is executed as a whole or not at all. */
function checkAll(
  asked: readonly NewOrder[],
  account: Holder,
  world: World,
  now: number,
): readonly OrderPlan[] | Rejection {
  const seenIds = new Set<string>();
  const all: OrderPlan[] = [];
  for (const order of asked) {
    if (isCombination(asked) && order.combo_type === 'NORMAL') return parameterError('combo_type');
    const id = order.client_order_id;
    // An accepted order uses up its id; a refused one does not.
    if (seenIds.has(id) || world.orders.knows(account.account_id, id))
      return refuseAsSeen(observed.usedOrderId, `client_order_id was used before, ${id}`);
    seenIds.add(id);
    const late = checkDay(order, world, now);
    if (late) return late;
    const checked = checkTerms(order, world, now);
    if (isRefusal(checked)) return checked;
    // The parts of a combination pay for each other, or never trade.
    const refusal = order.combo_type === 'NORMAL' ? checkMeans(checked, account, world, now) : undefined;
    if (refusal) return refusal;
    all.push(checked);
  }
  return all;
}

function add(
  checked: readonly OrderPlan[],
  { account_id: accountId }: Holder,
  world: World,
  now: number,
  combination: { readonly comboOrderId?: string; readonly clientComboOrderId?: string } = {},
) {
  const hasMaster = checked.some(({ order }) => order.combo_type === 'MASTER');
  const { comboOrderId } = combination;
  const placed = checked.map(({ order, asset, total }) => {
    const stored = {
      accountId,
      clientOrderId: order.client_order_id,
      orderId: world.orders.nextIdentifier(),
      ...(comboOrderId !== undefined && { comboOrderId }),
      placedAt: now,
      order,
    };
    return new LiveOrder(stored, asset, total, hasMaster && follows(order.combo_type));
  });
  world.orders.add(placed, combination);
  // Orders that fill or expire at once show it from now on.
  world.orders.settle(now);
  return placed.map(({ stored }) => ({ client_order_id: stored.clientOrderId, order_id: stored.orderId }));
}
