/** Log of every change of every order, numbered, with the payload of its event; tests compare listeners with it. */

import { randomUUID } from 'node:crypto';
import { quantityText } from './amounts.ts';
import { averagePrice } from './order-asset.ts';
import type { BookChange, Scene } from './order-book.ts';
import type { Status } from './order-life.ts';

export interface LoggedChange {
  /** Number of the change since the start, from 1 without a gap. */
  readonly sequence: number;
  /** Unix time of the change in milliseconds. */
  readonly at: number;
  /** Request id of the change's event; unique. */
  readonly requestId: string;
  readonly accountId: string;
  readonly clientOrderId: string;
  readonly scene: Scene;
  /** Status as in the event, which may show an order that is filled in part as `SUBMITTED`. */
  readonly status: Status;
  /** Total up to this change. */
  readonly filledQuantity: string;
  /** Payload of the event, before it is JSON. */
  readonly payload: Readonly<Record<string, string | null>>;
}

/** Statuses that events were seen to give an order that is filled in part. */
export type PartlyFilledStatus = 'SUBMITTED' | 'PARTIAL_FILLED';

/** Number of changes that are kept, more than any test makes; the oldest go first. */
const keptChanges = 100_000;

export class ChangeLog {
  readonly changes: LoggedChange[] = [];
  readonly #partlyFilled: PartlyFilledStatus;
  #sequence = 0;

  constructor(partlyFilled: PartlyFilledStatus) {
    this.#partlyFilled = partlyFilled;
  }

  add(change: BookChange): LoggedChange {
    const { order, scene, time: at } = change;
    const { accountId, clientOrderId } = order.stored;
    const status = change.status === 'PARTIAL_FILLED' ? this.#partlyFilled : change.status;
    const requestId = randomUUID().replaceAll('-', '');
    const filledQuantity = quantityText(change.filled);
    const payload = payloadOf(change, { requestId, status, filledQuantity });
    const sequence = ++this.#sequence;
    const added = {
      sequence,
      at,
      requestId,
      accountId,
      clientOrderId,
      scene,
      status,
      filledQuantity,
      payload,
    };
    this.changes.push(added);
    if (this.changes.length > keptChanges) this.changes.shift();
    return added;
  }
}

function payloadOf(
  { order, scene, time }: BookChange,
  { requestId, status, filledQuantity }: Pick<LoggedChange, 'requestId' | 'status' | 'filledQuantity'>,
): LoggedChange['payload'] {
  const { accountId, clientOrderId, orderId } = order.stored;
  const { underlying, contract } = order.asset.legs[0]!;
  const fills = order.fills.filter((fill) => fill.time <= time);
  const last = fills.at(-1);
  return {
    request_id: requestId,
    account_id: accountId,
    client_order_id: clientOrderId,
    // It was not seen when the upstream leaves the id out; here, an order that never came to the exchange has none.
    ...(scene !== 'PLACE_FAILED' && { order_id: orderId }),
    instrument_id: (contract ?? underlying).instrumentId,
    symbol: order.terms.symbol ?? underlying.symbol,
    category: contract ? 'US_OPTION' : underlying.category,
    order_status: status,
    scene_type: scene,
    side: order.terms.side,
    order_type: order.terms.order_type,
    qty: quantityText(order.total),
    filled_qty: filledQuantity,
    filled_price: last ? averagePrice(fills) : null,
    filled_time: last ? new Date(last.time).toISOString() : null,
  };
}
