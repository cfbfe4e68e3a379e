/** An order as it was asked for, and what the upstream noted of it when it was placed. */

import type { placeOrder } from '../../../lib/catalogue/index.ts';
import type { BodyIn } from '../parameters.ts';

type OrderBody = BodyIn<typeof placeOrder>['new_orders'][number];
type OrderSubject = 'combo_type' | 'instrument_type' | 'symbol';

/** An order with what it left to its legs, or to the upstream. */
export type NewOrder = OrderBody & { readonly [K in OrderSubject]: NonNullable<OrderBody[K]> };

/** Undefined for an order that says neither itself nor by its legs what it trades. */
export function completed(order: OrderBody): NewOrder | undefined {
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
  /** Present for an order that is part of a combination. */
  readonly comboOrderId?: string;
  /** When it was placed, Unix time in milliseconds. */
  readonly placedAt: number;
  /** What was asked for. */
  readonly order: NewOrder;
}
