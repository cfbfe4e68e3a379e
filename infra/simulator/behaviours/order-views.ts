/** Shows orders: one, the open ones, and those of a period. */

import { strikeText } from '../market/option-contracts.ts';
import { multiplier, termsShown } from '../market/option-model.ts';
import { observed } from '../observed.ts';
import { readCursor, writeCursor } from '../paging.ts';
import { parameterError, refuseAsSeen } from '../refusal.ts';
import { dollarText, quantityText } from '../trading/amounts.ts';
import { type AssetLeg, averagePrice } from '../trading/order-asset.ts';
import type { OrderGroup } from '../trading/order-group.ts';
import type { LiveOrder, Status } from '../trading/order-life.ts';
import { feeOf } from '../trading/portfolio.ts';
import type { Holder, World } from '../world.ts';
import { type ApiCall, type ApiReply, answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';
import { ofAccount } from './order-checks.ts';

const pageSize = 20;
const usualPeriod = 7 * 86_400_000;
/** Milliseconds for which the history shows the earlier status of an order that has just ended: it lags behind `getOrder`. */
const historyLagMs = 2000;

export const orderViews: Behaviours = {
  getOrder: ofAccount((account, { query, now }, world) => {
    const clientOrderId = query.client_order_id!;
    const found = world.orders.findVisible(account.account_id, clientOrderId, now);
    if (!found) return orderNotFound(clientOrderId);
    return answer(shownGroup(found.group, clientOrderId, withCharges));
  }),

  listOpenOrders: ofAccount((account, call, world) => page(account, call, world, (group) => group.isOpen)),

  /** Selects by the time of placing; open orders are part of an account's history, too. */
  listOrderHistory: ofAccount((account, call, world) => {
    const { start_time: start, end_time: end } = call.query;
    const bare = start === undefined && end === undefined;
    const from = start === undefined ? (bare ? call.now - usualPeriod : 0) : Date.parse(start);
    const to = end === undefined ? Infinity : Date.parse(end);
    const isWanted = ({ orders }: OrderGroup) => {
      const { placedAt } = orders[0]!.stored;
      return placedAt >= from && placedAt <= to;
    };
    return page(account, call, world, isWanted, ({ endedAt = -Infinity, status }) =>
      call.now < endedAt + historyLagMs ? 'PENDING' : status,
    );
  }),
};

const latestStatus = ({ status }: LiveOrder): Status => status;

export const orderNotFound = (id: string) => refuseAsSeen(observed.groupCancel, `No such order, ${id}`);

/** Shows the newest first. A cursor names the last group sent, so that orders placed meanwhile shift nothing. */
function page(
  account: Holder,
  call: ApiCall,
  world: World,
  wanted: (group: OrderGroup) => boolean,
  statusOf = latestStatus,
): ApiReply {
  const { now } = call;
  const cursor = readCursor(call);
  if (cursor && isRefusal(cursor)) return cursor;
  const after = cursor === undefined ? Infinity : Number(cursor.after);
  if (Number.isNaN(after)) return parameterError('pagination_key');
  const rest = world.orders
    .groupsOf(account.account_id, now)
    .filter((group) => group.sequence < after && wanted(group));
  const shownGroups = rest.slice(0, pageSize);
  return answer({
    data: shownGroups.map((group) =>
      shownGroup(group, group.orders[0]!.stored.clientOrderId, (order) => shownOrder(order, statusOf(order))),
    ),
    ...(rest.length > shownGroups.length && {
      pagination_key: writeCursor({ now, after: String(shownGroups.at(-1)!.sequence) }),
    }),
  });
}

function shownGroup(
  { orders, comboOrderId, clientComboOrderId }: OrderGroup,
  clientOrderId: string,
  shown: (order: LiveOrder) => object,
) {
  const namedOrder = orders.find(({ stored }) => stored.clientOrderId === clientOrderId)!;
  return {
    client_order_id: clientOrderId,
    ...(comboOrderId !== undefined && { combo_order_id: comboOrderId }),
    ...(clientComboOrderId !== undefined && { client_combo_order_id: clientComboOrderId }),
    combo_type: namedOrder.stored.order.combo_type,
    orders: orders.map(shown),
  };
}

function shownOrder(order: LiveOrder, status: Status): object {
  const { quantity: _quantity, legs: _legs, market: _market, ...asked } = order.terms;
  const { placedAt, orderId } = order.stored;
  const filled = order.filled;
  const last = order.fills.at(-1);
  return {
    ...asked,
    order_id: orderId,
    status,
    total_quantity: quantityText(order.total),
    filled_quantity: quantityText(filled),
    filled_price: filled > 0n ? averagePrice(order.fills) : null,
    place_time: placedAt,
    place_time_at: new Date(placedAt).toISOString(),
    ...(last && { filled_time: last.time, filled_time_at: new Date(last.time).toISOString() }),
    ...(order.asset.kind === 'OPTION' && {
      legs: order.asset.legs.map((leg, at) => shownLeg(leg, at, order)),
    }),
  };
}

/** Adds an order's charges, which lists leave out. */
function withCharges(order: LiveOrder): object {
  const fees = order.fills.reduce(
    (sum, { quantity, price }) => sum + feeOf(order.asset, quantity, price, order.sign > 0),
    0n,
  );
  return {
    ...shownOrder(order, latestStatus(order)),
    commission: { actual_commission: '0.00', receivable_commission: '0.00' },
    ...(fees > 0n && {
      fees: [{ type: 'REGULATORY_FEE', actual_value: dollarText(fees), receivable_value: dollarText(fees) }],
    }),
  };
}

function shownLeg({ underlying, contract, ratio }: AssetLeg, at: number, order: LiveOrder): object {
  const count = order.total * BigInt(Math.abs(ratio));
  return {
    id: `${order.stored.orderId.slice(0, 20)}L${at + 1}`,
    symbol: underlying.symbol,
    side: ratio * order.sign > 0 ? 'BUY' : 'SELL',
    quantity: quantityText(contract ? count : count * BigInt(multiplier)),
    market: 'US',
    instrument_type: contract ? 'OPTION' : 'EQUITY',
    ...(contract && { ...termsShown(contract), strike_price: strikeText(contract) }),
  };
}
