/**
 * The steps of orders: the hand-over of requests with a side effect, with the gateway's own way to the upstream for orders
 * that it looks up; and what the journal tells of an order, for which nothing is sent.
 */

import { type Answer, refused } from '../answer.ts';
import { unsignable } from '../catalogue/faults.ts';
import type { Operation } from '../catalogue/operation.ts';
import {
  createHandOver,
  createUnguardedHandOver,
  type HandOver,
  type OrdersOptions,
  type OrdersWiring,
} from '../orders/hand-over.ts';
import { orderOutcome } from '../orders/order-outcome.ts';
import { orderIn } from '../orders/order-reads.ts';
import type { AdmittedRequest } from './cache-options.ts';
import { createContext } from './context.ts';
import { accountOf } from './credential.ts';
import { lookUpFor } from './look-ups.ts';
import type { Outcome } from './outcome.ts';
import type { Upstream } from './upstream.ts';
import type { ValidRequest } from './validate.ts';

export type HandOverChange = (
  change: AdmittedRequest,
  send: (change: AdmittedRequest) => Promise<Answer>,
) => Promise<Answer>;

/** What a gateway does with orders that its upstream does not. */
export interface OrderSteps {
  /** Undefined where the journal is only read. */
  readonly handOver: HandOverChange | undefined;
  /** Answers of the journal what became of an order. */
  readonly outcome: (request: ValidRequest) => Promise<Outcome>;
}

export interface OrdersStep {
  /** See `OrdersOptions`. */
  readonly lookUps: readonly Operation[];
  readonly members: readonly string[];
  readonly create: (parts: OrderParts) => OrderSteps;
}

export interface OrderParts {
  readonly upstream: Upstream;
  readonly clock: () => number;
  /** Those that the gateway offers. */
  readonly operations: readonly Operation[];
}

/** What became of an order, for a gateway that sends none. */
export const outcomesStep = (
  options: Pick<OrdersOptions, 'journal' | 'names' | 'reportFailure'>,
): OrdersStep => ({
  lookUps: [],
  members: [],
  create: ({ clock }) => ({
    handOver: undefined,
    async outcome({ query }) {
      const { account_id: account = '', client_order_id: clientOrderId = '' } = Object.fromEntries(query);
      try {
        const outcome = await orderOutcome(options, { account, clientOrderId }, clock());
        return { kind: 'uncached', body: new TextEncoder().encode(JSON.stringify(outcome)) };
      } catch (cause) {
        options.reportFailure?.('read', cause);
        return refused({ code: 'journal_unavailable', detail: notRead });
      }
    },
  }),
});

const notRead =
  'The gateway cannot read its journal of orders now; what became of the order is not known from this.';

/** The hand-over, and what became of an order. */
export const ordersStep = (options: OrdersOptions): OrdersStep =>
  stepOf(options, (clock) => createHandOver({ ...options, clock }));

/** The same for requests that no guard rail is about: cancels, changes of watchlists. */
export type UnguardedWiring = Omit<OrdersWiring, 'guard' | 'members'>;

export const unguardedStep = (options: UnguardedWiring): OrdersStep =>
  stepOf(options, (clock) => createUnguardedHandOver({ ...options, clock }));

const stepOf = (options: OrdersOptions, create: (clock: () => number) => HandOver): OrdersStep => ({
  lookUps: options.lookUps ?? [],
  members: options.members ?? [],
  create: (parts) => ({
    ...outcomesStep(options).create(parts),
    handOver: withLookUps(create(parts.clock), [...parts.operations, ...(options.lookUps ?? [])], parts),
  }),
});

/** A look-up of the gateway's own waits so long for a permit: clients that read orders come first. */
const lookUpWaitMs = 1000;

/** What a client may choose. */
const idempotencyKey = /^[ -~]{1,255}$/;

/** @param known operations that may show an order */
function withLookUps(
  handOver: HandOver,
  known: readonly Operation[],
  { upstream }: OrderParts,
): HandOverChange {
  return async (change, send) => {
    const { route, request, valid, credential, context } = change;
    const { operation, path } = route;
    const { journal } = operation.sideEffect ?? {};
    const key = journal?.by === 'idempotency-key' ? request.headers['idempotency-key'] : undefined;
    if (key !== undefined && !idempotencyKey.test(key)) return refused(wrongKey);
    const asked = {
      ...valid,
      operation,
      path,
      credential: await accountOf(credential),
      requestId: request.requestId,
      deadline: context.deadline,
      ...(key !== undefined && { idempotencyKey: key }),
      ...context.parties,
    };
    return handOver.run(asked, {
      send: (body, sendBy, leaveBy) =>
        send({
          ...change,
          valid: { ...valid, body },
          context: { ...context, deadline: sendBy, ...(leaveBy !== undefined && { leaveBy }) },
        }),
      async lookUp(account, clientOrderId, endBy) {
        const lookUp = lookUpFor(operation, known);
        // No order has an id that no request could carry.
        if (!lookUp || unsignable('client_order_id', clientOrderId)) return undefined;
        const query = [['account_id', account] as const, ['client_order_id', clientOrderId] as const];
        const answer = await upstream.fetch(
          {
            operation: lookUp,
            path: lookUp.path,
            request: { query, body: '', headers: {} },
            // With a usage of its own: it is no further attempt of the request.
            context: { ...createContext(endBy, context.priority, context.caller), parties: context.parties },
            own: { waitMs: lookUpWaitMs },
            isRepeatedByCaller: true,
          },
          credential,
        );
        const found = orderIn(
          account,
          clientOrderId,
          answer.kind === 'refused' ? answer.refusal : answer.body,
        );
        return found === 'not_found' || !('code' in found) ? found : undefined;
      },
    });
  };
}

const keyFault = 'takes 1 to 255 printable ASCII characters';
const wrongKey = {
  code: 'invalid_parameter',
  detail: `idempotency-key: ${keyFault}`,
  errors: [{ in: 'header', name: 'idempotency-key', detail: keyFault }],
} as const;
