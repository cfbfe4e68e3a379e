/** Reads events of the bus, from a rule's target. */

import * as v from 'valibot';
import type { Got } from '../client/types.ts';
import { parseJson } from '../kernel/parse-json.ts';
import type { ReadOrder } from '../orders/order-reads.ts';
import {
  type orderChanged,
  type positionChanged,
  type tradeEventReceived,
  tradeEventSchemas,
} from './schemas.ts';

export type OrderChanged = Got<v.InferOutput<typeof orderChanged>>;
export type PositionChanged = Got<v.InferOutput<typeof positionChanged>>;
export type TradeEventReceived = Got<v.InferOutput<typeof tradeEventReceived>>;

/** An event of the bus; `detailType` is its kind. */
export type ParsedTradeEvent =
  | { readonly detailType: 'OrderChanged'; readonly detail: OrderChanged }
  | { readonly detailType: 'PositionChanged'; readonly detail: PositionChanged }
  | { readonly detailType: 'TradeEventReceived'; readonly detail: TradeEventReceived };

/**
 * Reads one event.
 *
 * @param input the event with its envelope, or the text of one
 * @returns undefined for an input that is none of these events
 * @example
 * const event = parseTradeEvent(input);
 * if (event?.detailType === 'OrderChanged') console.log(event.detail.client_order_id, event.detail.status);
 */
export function parseTradeEvent(input: unknown): ParsedTradeEvent | undefined {
  const event = typeof input === 'string' ? parseJson(input) : input;
  if (typeof event !== 'object' || event === null) return undefined;
  const { 'detail-type': detailType, detail } = event as Readonly<Record<string, unknown>>;
  if (typeof detailType !== 'string' || !Object.hasOwn(tradeEventSchemas, detailType)) return undefined;
  const type = detailType as keyof typeof tradeEventSchemas;
  const isOne = v.is(tradeEventSchemas[type], detail);
  return isOne ? ({ detailType: type, detail } as ParsedTradeEvent) : undefined;
}

/** The order of an `OrderChanged` event, as reads of orders show one; undefined for a detail that names none. */
export function orderInEvent(detail: unknown): ReadOrder | undefined {
  if (typeof detail !== 'object' || detail === null) return undefined;
  const { account_id, client_order_id, status, filled_quantity, order } = detail as Readonly<
    Record<string, unknown>
  >;
  if (typeof account_id !== 'string' || typeof client_order_id !== 'string') return undefined;
  const state = {
    account: account_id,
    clientOrderId: client_order_id,
    status: String(status),
    filled: String(filled_quantity ?? '0'),
  };
  // Only texts of it are read, so that parsing has rounded nothing that counts.
  return { state, payload: JSON.stringify(order ?? {}) };
}
