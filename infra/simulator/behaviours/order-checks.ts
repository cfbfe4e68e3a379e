/** Checks whether an order can be accepted; changes nothing. */

import { observed } from '../observed.ts';
import { parameterError, type Rejection, refuse, refuseAsSeen } from '../refusal.ts';
import { divide, oneShare, parseQuantity, type Quantity } from '../trading/amounts.ts';
import { type FundsAtHand, fundsAtHand } from '../trading/funds-at-hand.ts';
import { type Asset, assetOf, costOf, currentPrice, priceAskedFor } from '../trading/order-asset.ts';
import type { NewOrder } from '../trading/stored-order.ts';
import type { Holder, World } from '../world.ts';
import type { ApiCall, ApiReply, Behaviour } from './behaviour.ts';
import { isRefusal } from './find.ts';

/** Order that can be accepted, with its asset and quantity. */
export interface OrderPlan {
  readonly order: NewOrder;
  readonly asset: Asset;
  readonly total: Quantity;
}

/** Answers for the account that a call names, after the market has acted on its orders up to now. */
export const ofAccount =
  (reply: (account: Holder, call: ApiCall, world: World) => ApiReply): Behaviour =>
  (call, world) => {
    const id = call.query.account_id ?? (call.body as { readonly account_id?: string })?.account_id;
    const account = world.accounts.find(({ account_id }) => account_id === id);
    if (!account) return refuseAsSeen(observed.foreignAccount, 'The account is not one of the user’s');
    world.orders.settle(call.now);
    return reply(account, call, world);
  };

/** Checks the rules for any order, whether it is placed or only previewed. */
export function checkTerms(order: NewOrder, world: World, now: number): OrderPlan | Rejection {
  // Seen live for stocks; for options the session is optional.
  if (order.instrument_type === 'EQUITY' && order.support_trading_session === undefined)
    return parameterError('support_trading_session');
  const asset = assetOf(order, world.universe, now);
  if (isRefusal(asset)) return asset;
  const total = checkFigures(order, asset, now);
  return typeof total === 'bigint' ? { order, asset, total } : total;
}

/** Checks prices and quantity. @returns the quantity, or a refusal */
export function checkFigures(order: NewOrder, asset: Asset, now: number): Quantity | Rejection {
  return checkPrices(order) ?? checkOfOptions(order, asset) ?? totalOf(order, asset, now);
}

/** Refuses terms that options do not allow. */
function checkOfOptions(
  { time_in_force: inForce, order_type: type }: NewOrder,
  asset: Asset,
): Rejection | undefined {
  if (asset.kind !== 'OPTION') return undefined;
  if (inForce === 'IOC' || inForce === 'FOK') return parameterError('time_in_force');
  return type === 'TRAILING_STOP_LOSS' ? parameterError('order_type') : undefined;
}

/**
 * Refuses an order for the day once the day's regular session is over, until the day ends in New York. It was not seen
 * what happens before the session and on days without one: the order is accepted for the next session. Orders that
 * outlive the day, previews and changes are accepted around the clock.
 */
export function checkDay(
  { time_in_force: inForce }: NewOrder,
  world: World,
  now: number,
): Rejection | undefined {
  return inForce === 'DAY' && world.partOfDay(now) === 'after'
    ? refuseAsSeen(observed.dayOrder, 'DAY orders are not taken after the regular session')
    : undefined;
}

function checkPrices(order: NewOrder): Rejection | undefined {
  const { order_type: type, time_in_force: inForce, expire_date: date } = order;
  if (type.includes('LIMIT') && !isPositive(order.limit_price))
    return refuse(417, 'ORDER_PRICE_ILLEGAL', 'Price not accepted, limit_price');
  if (['STOP_LOSS', 'STOP_LOSS_LIMIT'].includes(type) && !isPositive(order.stop_price))
    return refuse(417, 'ORDER_PRICE_ILLEGAL', 'Price not accepted, stop_price');
  if (type === 'TRAILING_STOP_LOSS' && !isPositive(order.trailing_stop_step))
    return refuse(417, 'ORDER_PRICE_ILLEGAL', 'Price not accepted, trailing_stop_step');
  return inForce === 'GTD' && date === undefined ? parameterError('expire_date') : undefined;
}

/** Computes the number of shares or contracts; an amount of money buys as many as it pays for at the current price. */
function totalOf(order: NewOrder, asset: Asset, now: number): Quantity | Rejection {
  const byAmount = order.entrust_type === 'AMOUNT';
  const name = byAmount ? 'total_cash_amount' : 'quantity';
  const amount = parseQuantity(order[name]);
  if (amount === undefined || amount <= 0n) return parameterError(name);
  if (!byAmount) return asset.kind === 'OPTION' && amount % oneShare !== 0n ? parameterError(name) : amount;
  const price = BigInt(priceAskedFor({ terms: order, asset }, now)) * BigInt(asset.multiplier);
  const shares = price > 0n ? divide(amount * 100n, price) : 0n;
  return shares > 0n ? shares : parameterError(name);
}

/** Checks whether the account can pay for an order, or has what it sells. */
export function checkMeans(
  { order, asset, total }: OrderPlan,
  account: Holder,
  world: World,
  now: number,
): Rejection | undefined {
  const { status } = asset.underlying;
  if (status === 'NT' || (status === 'CO' && order.side === 'BUY'))
    return refuse(417, 'INSTRUMENT_NOT_TRADABLE', `Not tradable, ${order.symbol}`);
  if (order.side === 'BUY') {
    const funds = fundsOf(account, world, now);
    const cost = costOf(asset, total, priceAskedFor({ terms: order, asset }, now));
    return cost > (asset.kind === 'OPTION' ? funds.optionBuyingPower : funds.buyingPower)
      ? refuse(417, 'DAY_BUYING_POWER_INSUFFICIENT', 'Not enough buying power')
      : undefined;
  }
  // Allows sales without a holding: short sales on credit, written options, and combinations.
  const mayBeShort =
    account.account_type === 'MARGIN' &&
    (order.side === 'SHORT' || order.position_intent === 'SELL_TO_OPEN' || asset.legs.length > 1);
  return mayBeShort || total <= availableOf(asset, account, world)
    ? undefined
    : refuse(417, 'CAN_SELL_QTY_NOT_ENOUGH', `Not enough to sell, ${order.symbol}`);
}

/** Quantity that is held and not for sale already. */
export function availableOf(asset: Asset, account: Holder, world: World): Quantity {
  const onSale = world.orders
    .openOf(account.account_id)
    .filter((order) => order.sign < 0 && !order.waiting && order.asset.key === asset.key)
    .reduce((sum, order) => sum + order.rest, 0n);
  return world.portfolios.get(account.account_id)!.quantityOf(asset) - onSale;
}

export function fundsOf(
  { account_id: id, account_type: kind }: Holder,
  world: World,
  now: number,
): FundsAtHand {
  const portfolio = world.portfolios.get(id)!;
  return fundsAtHand(kind, portfolio.cash, portfolio.valued(now), world.orders.openOf(id), now);
}

/** Price for a preview: the order's own, or the one that the user sees, or the market's. */
export function previewPrice(order: NewOrder, asset: Asset, seen: string | undefined, now: number): number {
  const own = order.limit_price ?? order.stop_price ?? (isPositive(seen) ? seen : undefined);
  return own === undefined ? currentPrice(asset, now) : Math.round(Number(own) * 100);
}

/** Only the sign matters, so a binary number is precise enough. */
function isPositive(decimal: string | undefined): boolean {
  return decimal !== undefined && Number(decimal) > 0;
}
