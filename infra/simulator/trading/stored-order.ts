/** Order as it was requested, with the ids and the time that the upstream gave it. */

import type { placeOrder } from '../../../lib/catalogue/index.ts';
import type { BodyIn } from '../parameters.ts';

type OrderBody = BodyIn<typeof placeOrder>['new_orders'][number];
type OrderSubject = 'combo_type' | 'instrument_type' | 'symbol';

/** Order with the members that may be left to its legs or to the upstream. */
export type NewOrder = OrderBody & { readonly [K in OrderSubject]: NonNullable<OrderBody[K]> };

/** Completes an order; undefined if neither it nor its legs name what it trades. */
export function completeOrder(order: OrderBody): NewOrder | undefined {
  const option = order.legs?.find((leg) => leg.instrument_type === 'OPTION');
  const {
    combo_type = 'NORMAL',
    instrument_type = option?.instrument_type,
    symbol = option?.symbol,
    market = option?.market,
  } = order;
  return instrument_type && symbol ? { ...order, combo_type, instrument_type, symbol, market } : undefined;
}

export interface StoredOrder {
  readonly accountId: string;
  readonly clientOrderId: string;
  readonly orderId: string;
  /** Set for a part of a combination. */
  readonly comboOrderId?: string;
  /** Time of placing, Unix milliseconds. */
  readonly placedAt: number;
  /** Terms that were requested. */
  readonly order: NewOrder;
}
