/** Every change of every order, numbered, with what an event says of it: what a listener is checked against. */

import { randomUUID } from 'node:crypto';
import { quantityText } from './amounts.ts';
import { averagePrice } from './order-asset.ts';
import type { BookChange, Scene } from './order-book.ts';
import type { Status } from './order-life.ts';

export interface LoggedChange {
  /** 1 for the first change since the start, and so on without a gap. */
  readonly sequence: number;
  /** When it happened, Unix time in milliseconds. */
  readonly at: number;
  /** Of the event that tells of it; never the same twice. */
  readonly requestId: string;
  readonly accountId: string;
  readonly clientOrderId: string;
  readonly scene: Scene;
  /** As in the event, where an order that is filled in part can be `SUBMITTED`. */
  readonly status: Status;
  /** In all, up to this change. */
  readonly filledQuantity: string;
  /** The event's payload, before it is JSON. */
  readonly payload: Readonly<Record<string, string | null>>;
}

/** What an event can say of an order that is filled in part: both were seen. */
export type PartlyFilledStatus = 'SUBMITTED' | 'PARTIAL_FILLED';

/** More than any test makes; the oldest go first. */
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
    // Where the upstream leaves it out was not seen: here, of what never came to the exchange.
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
