/**
 * The parts of a request, each with an entry of its own in the journal: the orders that it places, or else the request
 * itself. A part has a key that identifies its repetition, and a hash of its contents.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { Journaled, Operation } from '../catalogue/operation.ts';
import { bracketEntry, orderToCheck } from '../guard-rails/order.ts';
import { textMembers, textOf } from '../kernel/json-members.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import type { OrderRecord } from './record.ts';

/** A request with a side effect after the gateway's validation. */
export interface Submission {
  readonly operation: Operation;
  /** The path, among the operation's, that the client used. Default the operation's own. */
  readonly path?: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** The JSON that is sent, without white space. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The credential's name in stores. */
  readonly credential: string;
  readonly requestId: string;
  /** When the platform stops waiting, in milliseconds since the epoch. */
  readonly deadline: number;
  /** The header Idempotency-Key. */
  readonly idempotencyKey?: string;
  /** Keyed names of the user and app that sent the request. */
  readonly user?: string;
  readonly app?: string;
}

export interface OrderPart {
  readonly key: string;
  readonly hash: string;
  /** The JSON of this part, byte for byte. */
  readonly text: string;
  readonly account?: string;
  /** Id of the order that the part places or changes. */
  readonly clientOrderId?: string;
}

/** The key of an order's entry. It does not contain the app key, so that the account keeps its orders when that changes. */
export const orderKey = (
  names: KeyedNames,
  order: { readonly account: string; readonly clientOrderId: string },
): Promise<string> => names.nameOf('entry', 'order', order.account, order.clientOrderId);

/** The parts of a request; undefined for a request that the journal does not record. */
export async function partsOf(
  change: Submission,
  names: KeyedNames,
): Promise<readonly OrderPart[] | undefined> {
  const journaled = change.operation.sideEffect?.journal;
  if (!journaled) return undefined;
  if (journaled.by === 'client_order_id') return placedOrders(change, journaled, names);
  if (change.idempotencyKey === undefined && journaled.unkeyed === 'not_recorded') return undefined;
  return [await wholeRequest(change, names)];
}

async function placedOrders(
  change: Submission,
  { list, answered }: Extract<Journaled, { by: 'client_order_id' }>,
  names: KeyedNames,
): Promise<readonly OrderPart[]> {
  const { body, query, headers } = change;
  const account = textMembers(body, ['account_id'])?.get('account_id') ?? '';
  const others = [account, JSON.stringify(query), JSON.stringify(headers)];
  return Promise.all(
    ordersIn(body, list).map(async (order) => {
      const clientOrderId = idOf(order);
      // Parts of a combination are placed together or not at all, so the hash covers the whole body.
      const text = answered === 'each' ? order : body;
      return {
        key: await orderKey(names, { account, clientOrderId }),
        hash: await names.nameOf('asked', text, ...others),
        text,
        account,
        clientOrderId,
      };
    }),
  );
}

/** The part for a whole request. Its key contains the user, so that two users may choose equal idempotency keys. */
async function wholeRequest(change: Submission, names: KeyedNames): Promise<OrderPart> {
  const { operation, body, query, headers, idempotencyKey, requestId, user, app } = change;
  const members = textMembers(body || '{}', ['account_id', 'client_order_id']);
  const account = members?.get('account_id');
  const clientOrderId = members?.get('client_order_id') ?? onlyModified(body);
  const id = idempotencyKey ?? `request ${requestId} ${crypto.randomUUID()}`;
  return {
    key: await names.nameOf('entry', 'request', user ?? app ?? '', operation.id, id),
    hash: await names.nameOf('asked', body, JSON.stringify(query), JSON.stringify(headers)),
    text: body,
    ...(account !== undefined && { account }),
    ...(clientOrderId !== undefined && { clientOrderId }),
  };
}

/** The id of the order that a replacement of a single order changes. */
function onlyModified(body: string): string | undefined {
  const [order, ...more] = body ? ordersIn(body, 'modify_orders') : [];
  if (order === undefined || more.length > 0) return undefined;
  return textMembers(order, ['client_order_id'])?.get('client_order_id');
}

/** The orders in a list of the body, each byte for byte. */
export function ordersIn(body: string, list: string): readonly string[] {
  const orders = membersOf(new TextEncoder().encode(body), [list])?.get(list);
  return orders ? [...elementsOf(orders)].map(textOf) : [];
}

/** The ids of a placed bracket, and of the order that counts for it; undefined where the request places no bracket. */
export function bracketIn({ asked, list }: OrderRecord): BracketIds | undefined {
  const orders =
    list === undefined ? [] : ordersIn(asked, list).map((json) => orderToCheck(json, idOf(json)));
  const entry = bracketEntry(orders);
  return entry && { entry: entry.at, ids: orders.map(({ at }) => at) };
}

interface BracketIds {
  readonly entry: string;
  readonly ids: readonly string[];
}

/** The order's id; empty when it has none. */
export const idOf = (order: string): string =>
  textMembers(order, ['client_order_id'])?.get('client_order_id') ?? '';

/** The order of the record's id as it was sent, taken from the recorded request. */
export function askedOrder({ asked, list, client_order_id: id }: OrderRecord): string | undefined {
  const orders = list === undefined ? [asked] : ordersIn(asked, list);
  return orders.find((order) => idOf(order) === id);
}

/**
 * The body with only the given orders in its list, each unchanged.
 *
 * @param body compact JSON without duplicate names
 */
export function withOrders(body: string, list: string, orders: readonly string[]): string {
  const bytes = new TextEncoder().encode(body);
  const found = membersOf(bytes, [list])?.get(list);
  if (!found) return body;
  const start = found.byteOffset - bytes.byteOffset;
  const decoder = new TextDecoder();
  const before = decoder.decode(bytes.subarray(0, start));
  const after = decoder.decode(bytes.subarray(start + found.length));
  return `${before}[${orders.join(',')}]${after}`;
}
