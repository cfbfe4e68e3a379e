/** The hand-over of requests with a side effect, with the gateway's own way to the upstream for orders that it looks up. */

import { type Answer, refused } from '../answer.ts';
import { unsignable } from '../catalogue/faults.ts';
import type { Operation } from '../catalogue/operation.ts';
import { createHandOver, type OrdersOptions } from '../orders/hand-over.ts';
import { orderIn } from '../orders/order-reads.ts';
import type { CachedRead } from './cache-options.ts';
import { createContext } from './context.ts';
import { accountOf } from './credential.ts';
import { lookUpFor } from './look-ups.ts';
import type { Upstream } from './upstream.ts';

export type HandOverChange = (
  change: CachedRead,
  send: (change: CachedRead) => Promise<Answer>,
) => Promise<Answer>;

/** A look-up of the gateway's own waits so long for a permit: clients that read orders come first. */
const lookUpWaitMs = 1000;

/** What a client may choose. */
const idempotencyKey = /^[ -~]{1,255}$/;

export function createOrderHandOver(
  options: OrdersOptions,
  {
    upstream,
    clock,
    operations,
  }: {
    readonly upstream: Upstream;
    readonly clock: () => number;
    /** Those that the gateway offers. */
    readonly operations: readonly Operation[];
  },
): HandOverChange {
  const handOver = createHandOver({ ...options, clock });
  const known = [...operations, ...(options.lookUps ?? [])];
  return async (change, send) => {
    const { route, request, valid, credential, context } = change;
    const { operation } = route;
    const { journal } = operation.sideEffect ?? {};
    const key = journal?.by === 'idempotency-key' ? request.headers['idempotency-key'] : undefined;
    if (key !== undefined && !idempotencyKey.test(key)) return refused(wrongKey);
    const asked = {
      ...valid,
      operation,
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
        const outcome = await upstream.fetch(
          {
            operation: lookUp,
            path: lookUp.path,
            request: { query, body: '', headers: {} },
            // With a usage of its own: it is no further attempt of the request.
            context: { ...createContext(endBy, context.priority), parties: context.parties },
            own: { waitMs: lookUpWaitMs },
            isRepeatedByCaller: true,
          },
          credential,
        );
        const found = orderIn(
          account,
          clientOrderId,
          outcome.kind === 'refused' ? outcome.refusal : outcome.body,
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
