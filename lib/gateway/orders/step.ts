/**
 * The steps of orders: hands requests with a side effect over to the journal, looks up orders at the upstream, and answers
 * from the journal alone what became of an order.
 */

import { refused } from '../../answer.ts';
import { unsignable } from '../../catalogue/faults.ts';
import type { Operation } from '../../catalogue/operation.ts';
import {
  createHandOver,
  createUnguardedHandOver,
  type HandOver,
  type OrdersOptions,
  type OrdersWiring,
} from '../../orders/hand-over.ts';
import { orderOutcome } from '../../orders/order-outcome.ts';
import { orderIn } from '../../orders/order-reads.ts';
import { createContext } from '../context.ts';
import { accountOf } from '../credential.ts';
import { lookUpFor } from '../look-ups.ts';
import type { HandOverChange, OrderParts, OrdersStep } from '../orders-port.ts';

/** Step for a gateway that sends no orders and only answers what became of one. */
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
        return refused({ code: 'journal_unavailable', detail: unreadableJournal });
      }
    },
  }),
});

const unreadableJournal =
  'The gateway cannot read its journal of orders now; what became of the order is not known from this.';

/** Step for a gateway that sends orders, and answers what became of one. */
export const ordersStep = (options: OrdersOptions): OrdersStep =>
  stepOf(options, (clock) => createHandOver({ ...options, clock }));

/** Options of the hand-over of requests without guard rails: cancels, changes of watchlists. */
type UnguardedWiring = Omit<OrdersWiring, 'guard' | 'members'>;

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

/** Longest wait of a look-up for a permit: short, because clients' reads of orders come first. */
const lookUpWaitMs = 1000;

/** Characters and length that a client's idempotency key may have. */
const idempotencyKey = /^[ -~]{1,255}$/;

/** @param known operations among which a look-up of orders is searched */
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
        // An id that no request can carry belongs to no order.
        if (!lookUp || unsignable('client_order_id', clientOrderId)) return undefined;
        const query = [['account_id', account] as const, ['client_order_id', clientOrderId] as const];
        const answer = await upstream.fetch(
          {
            operation: lookUp,
            path: lookUp.path,
            request: { query, body: '', headers: {} },
            // The look-up has a usage of its own, because it is no attempt of the request.
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
