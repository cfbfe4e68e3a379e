/** The port for reading orders at the upstream, and the parsing of its answers. */

import { textMembers, textOf } from '../kernel/json-members.ts';
import { elementsOf, isJson, membersOf } from '../kernel/json-scan.ts';
import type { Refusal } from '../problem.ts';
import { type OrderState, quantityOf, readOrderMembers, termsOf } from './order-state.ts';

/** Port to the upstream's reads of orders, at low priority and from the shared limit. */
export interface OrderReads {
  /** The accounts of the app key. */
  accounts(): Promise<readonly string[]>;
  /** All pages of the open orders. Rejects when a page is missing. */
  openOrders(account: string): Promise<readonly ReadOrder[]>;
  /** All pages of the orders that changed since `since`, in milliseconds since the epoch. May lag behind. */
  ordersSince(account: string, since: number): Promise<readonly ReadOrder[]>;
  order(account: string, clientOrderId: string): Promise<ReadOrder | 'not_found'>;
}

export interface ReadOrder {
  readonly state: OrderState;
  /** The upstream's JSON of this order, byte for byte. */
  readonly payload: string;
  /** The upstream's id of the combination that the order is a part of; absent for a single order. */
  readonly combination?: string;
}

const moments = ['place_time', 'place_time_at', 'filled_time', 'filled_time_at'] as const;

/** When a shown order was placed, and when it was last filled, in milliseconds since the epoch. @param shown JSON */
export function momentsIn(shown: string): { readonly placedAt?: number; readonly filledAt?: number } {
  const members = textMembers(shown, moments);
  const placedAt = timeOf(members?.get('place_time')) ?? timeOf(members?.get('place_time_at'));
  const filledAt = timeOf(members?.get('filled_time')) ?? timeOf(members?.get('filled_time_at'));
  return { ...(placedAt !== undefined && { placedAt }), ...(filledAt !== undefined && { filledAt }) };
}

/** Parses milliseconds since the epoch or ISO 8601. */
function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isNaN(time) || time === 0 ? undefined : time;
}

/**
 * The result of a look-up by id. It is a refusal when the look-up failed, or when its answer shows neither an order nor that
 * there is none: as "not found", it would wrongly prove that an order was not placed.
 */
export function orderIn(
  account: string,
  clientOrderId: string,
  answer: Uint8Array | Refusal,
): ReadOrder | 'not_found' | Refusal {
  if (!(answer instanceof Uint8Array)) return isNotFound(answer) ? 'not_found' : answer;
  const list = isJson(answer) ? membersOf(answer, ['orders'])?.get('orders') : undefined;
  if (list && /^\[\s*\]$/.test(textOf(list))) return 'not_found';
  const found = list && ordersOfGroup(account, answer);
  return (
    found?.find(({ state }) => state.clientOrderId === clientOrderId) ?? { code: 'upstream_broken_answer' }
  );
}

/** Whether the refusal means "no such order", as it does for an id that no request can carry, too. */
const isNotFound = ({ code, upstream }: Refusal) =>
  code === 'invalid_parameter' || /ORDER_NOT_FOUND$/.test(upstream?.errorCode ?? '');

/** The orders of a group: a single one, or those of a combination. */
export function ordersOfGroup(account: string, group: Uint8Array): ReadOrder[] {
  const orders = membersOf(group, ['orders'])?.get('orders');
  if (!orders) return [];
  const found = [...elementsOf(orders)].flatMap((order) => readOrderOf(account, order) ?? []);
  const ids = textMembers(group, ['combo_order_id', 'client_combo_order_id']);
  const combination = ids?.get('combo_order_id') || ids?.get('client_combo_order_id');
  return combination ? found.map((order) => ({ ...order, combination })) : found;
}

/** Reads an order; undefined when the id or the status is missing. */
function readOrderOf(account: string, order: Uint8Array): ReadOrder | undefined {
  const members = textMembers(order, readOrderMembers);
  const clientOrderId = members?.get('client_order_id');
  const status = members?.get('status');
  if (!members || !clientOrderId || !status) return undefined;
  const filled = quantityOf(members.get('filled_quantity'));
  const state = { account, clientOrderId, status, filled, terms: termsOf(members) };
  return { state, payload: textOf(order) };
}
