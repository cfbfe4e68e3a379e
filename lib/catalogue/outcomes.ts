/** Checks whether an answer of status 200 states the outcome of a request with a side effect. */

import type { Operation } from './operation.ts';

/** Whether an answer of status 200 leaves the outcome open: then a caller has to find it out. */
export function leavesOutcomeOpen({ sideEffect }: Pick<Operation, 'sideEffect'>, answer: unknown): boolean {
  if (!sideEffect) return false;
  const errorCode = memberOf(answer, 'error_code') ?? '';
  return errorCode !== '' || !sideEffect.saysOutcome(answer);
}

const orderIds = ['order_id', 'client_order_id', 'combo_order_id', 'client_combo_order_id'] as const;

/** Whether an answer names an order, or a combination of orders, by at least one of its ids. */
export const namesOrder = (answer: unknown): boolean => orderIds.some((name) => isId(memberOf(answer, name)));

/** Whether an answer names each order of a batch, even the failed ones: the counts beside the list do not identify them. */
export function namesOrders(answer: unknown): boolean {
  const orders = memberOf(answer, 'batch_orders');
  const total = Number(memberOf(answer, 'total') ?? 0);
  return Array.isArray(orders) && orders.length > 0 && !(orders.length < total) && orders.every(namesOrder);
}

/**
 * Whether an answer states if a watchlist was changed. The live upstream answers a bare boolean, its pages show an object;
 * `false` is a statement, too.
 */
export const saysWhetherDone = (answer: unknown): boolean =>
  typeof answer === 'boolean' || typeof memberOf(answer, 'success') === 'boolean' || namesWatchlist(answer);

const namesWatchlist = (answer: unknown): boolean => isId(memberOf(answer, 'watchlist_id'));

/** Whether an answer has the created token. */
export const hasToken = (answer: unknown): boolean => isId(memberOf(answer, 'token'));

const isId = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || Number.isFinite(value);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
