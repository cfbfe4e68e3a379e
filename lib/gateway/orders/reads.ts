/**
 * Reads orders through the gateway at low priority, within the shared limits and without the cache. Repeats a read that
 * the limiter refuses, or that fails, until its time is over.
 */

import { listAccounts } from '../../catalogue/accounts.ts';
import type { Operation } from '../../catalogue/operation.ts';
import { getOrder, listOpenOrders, listOrderHistory } from '../../catalogue/order-reads.ts';
import { textMembers } from '../../kernel/json-members.ts';
import { elementsOf, isJson, membersOf } from '../../kernel/json-scan.ts';
import type { OptionsOf } from '../../kernel/options-of.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import { type OrderReads, orderIn, ordersOfGroup, type ReadOrder } from '../../orders/order-reads.ts';
import { problemOf, type Refusal } from '../../problem.ts';
import { CountersignError } from '../../signer/errors.ts';
import type { Gateway } from '../core.ts';
import { bodyOf } from '../outcome.ts';

export interface GatewayOrderReadsWiring {
  /** A gateway with `access: 'single-user'` and the operations `orderReadOperations`. */
  readonly gateway: Pick<Gateway, 'ask'>;
  readonly clock: () => number;
  /** Resolves after `ms` milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** How long one read is repeated after refusals of the limiter and failures, in milliseconds. Default 2 minutes. */
  readonly maxWaitMs: number | undefined;
}

export type GatewayOrderReadsOptions = OptionsOf<GatewayOrderReadsWiring, 'gateway'>;

/** Operations that the gateway for these reads must offer. */
export const orderReadOperations: readonly Operation[] = [
  listAccounts,
  listOpenOrders,
  listOrderHistory,
  getOrder,
];

/** Thrown when a read of orders failed. Its message names no account and no order. */
export class OrderReadError extends CountersignError<'order_read_failed'> {
  override readonly name = 'OrderReadError';
  /** Code of the gateway's refusal, such as `upstream_unreachable`. */
  readonly reason: string;

  constructor(operation: string, reason: string) {
    super('order_read_failed', `${operation}: ${reason}`);
    this.reason = reason;
  }
}

/** Time limit of one attempt, its wait for a permit included. */
const attemptMs = 15_000;
const minPauseMs = 500;
/** Most pages of one list: no account has as many orders in a day, so the upstream's cursors must be endless. */
const maxPages = 2000;

/**
 * @example
 * const gateway = createGateway({ operations: orderReadOperations, access: 'single-user', upstreamBaseUrl, secrets });
 * const orders = createGatewayOrderReads({ gateway });
 */
export function createGatewayOrderReads(options: GatewayOrderReadsOptions): OrderReads {
  const { gateway, clock = Date.now, sleep = sleepWithTimer, maxWaitMs = 120_000 } = options;
  let requests = 0;

  async function ask(operation: Operation, query: QueryPairsOf): Promise<Uint8Array | Refusal> {
    const giveUpAt = clock() + maxWaitMs;
    for (;;) {
      const outcome = await gateway.ask({
        method: operation.method,
        path: operation.path,
        query,
        headers: { 'cache-control': 'no-cache' },
        requestId: `trade-events-${++requests}`,
        deadline: clock() + attemptMs,
        priority: 'events',
      });
      if (outcome.kind !== 'refused') return bodyOf(outcome);
      const { status, retryAfterSeconds = 1 } = problemOf(outcome.refusal);
      const pauseMs = Math.max(minPauseMs, retryAfterSeconds * 1000);
      if ((status !== 429 && status < 500) || clock() + pauseMs >= giveUpAt) return outcome.refusal;
      await sleep(pauseMs);
    }
  }

  async function readOrThrow(operation: Operation, query: QueryPairsOf): Promise<Uint8Array> {
    const answer = await ask(operation, query);
    if (!(answer instanceof Uint8Array)) throw new OrderReadError(operation.id, answer.code);
    if (!isJson(answer)) throw new OrderReadError(operation.id, 'upstream_broken_answer');
    return answer;
  }

  async function allPages(operation: Operation, account: string, query: QueryPairsOf): Promise<ReadOrder[]> {
    const orders: ReadOrder[] = [];
    const cursors = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const page = await readOrThrow(operation, [
        ['account_id', account],
        ...query,
        ...(cursor === undefined ? [] : [['pagination_key', cursor] as const]),
      ]);
      orders.push(...ordersOfPage(operation, account, page));
      cursor = textMembers(page, ['pagination_key'])?.get('pagination_key');
      if (!cursor) return orders;
      if (cursors.has(cursor) || cursors.size >= maxPages)
        throw new OrderReadError(operation.id, 'endless_pages');
      cursors.add(cursor);
    }
  }

  return {
    async accounts() {
      const answer = await readOrThrow(listAccounts, []);
      return [...elementsOf(answer)].map((record) => {
        const account = textMembers(record, ['account_id'])?.get('account_id');
        if (!account) throw new OrderReadError(listAccounts.id, 'upstream_broken_answer');
        return account;
      });
    },
    openOrders: (account) => allPages(listOpenOrders, account, []),
    ordersSince: (account, since) =>
      allPages(listOrderHistory, account, [['start_time', new Date(since).toISOString()]]),
    async order(account, clientOrderId) {
      const query = [['account_id', account] as const, ['client_order_id', clientOrderId] as const];
      const found = orderIn(account, clientOrderId, await ask(getOrder, query));
      if (found !== 'not_found' && 'code' in found) throw new OrderReadError(getOrder.id, found.code);
      return found;
    },
  };
}

type QueryPairsOf = readonly (readonly [string, string])[];

function ordersOfPage(operation: Operation, account: string, page: Uint8Array): ReadOrder[] {
  const members = membersOf(page, ['data', 'error_code']);
  // A page without orders has no `data`; a failure sent with status 200 must not count as such a page.
  if (!members || (members.has('error_code') && !members.has('data')))
    throw new OrderReadError(operation.id, 'upstream_broken_answer');
  const data = members.get('data');
  return data ? [...elementsOf(data)].flatMap((group) => ordersOfGroup(account, group)) : [];
}
