/** Cancels of single orders through a gateway, for the function that carries out mass cancels. */

import type { Operation } from '../../catalogue/operation.ts';
import { cancelOrder } from '../../catalogue/order-cancels.ts';
import type { OptionsOf } from '../../kernel/options-of.ts';
import { sleep as sleepWithTimer } from '../../kernel/pauses.ts';
import type { CancelOrder } from '../../orders/mass-cancel.ts';
import { problemOf, type RefusalCode } from '../../problem.ts';
import type { Gateway } from '../core.ts';
import { orderReadOperations } from './reads.ts';

/** Operations that a mass cancel sends to the upstream. */
export const massCancelOperations: readonly Operation[] = /* @__PURE__ */ orderReadOperations.concat(
  cancelOrder,
);

export interface GatewayCancelsWiring {
  /**
   * A gateway with `access: 'single-user'` and the operation `cancelOrder`, whose `orders` have the journal and the look-up
   * `getOrder`.
   */
  readonly gateway: Pick<Gateway, 'ask'>;
  readonly clock: () => number;
  /** Resolves after `ms` milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
}

export type GatewayCancelsOptions = OptionsOf<GatewayCancelsWiring, 'gateway'>;

/** Time limit of one request, its wait for a permit included. */
const attemptMs = 15_000;
const minPauseMs = 500;
/** Refusals before execution that another attempt may overcome. */
const repeatableCodes: ReadonlySet<RefusalCode> = new Set(['budget_used_up', 'upstream_rate_limited']);

/**
 * The returned function always resolves. It repeats a cancel that the limiter refused, until its time is over.
 *
 * @example
 * const cancel = createGatewayCancels({ gateway });
 * await cancel('1234567', 'an-order', 'key-of-this-run', Date.now() + 30_000);
 */
export function createGatewayCancels(options: GatewayCancelsOptions): CancelOrder {
  const { gateway, clock = Date.now, sleep = sleepWithTimer } = options;
  return async (account, clientOrderId, idempotencyKey, endBy = Number.POSITIVE_INFINITY) => {
    const body = JSON.stringify({ account_id: account, client_order_id: clientOrderId });
    const giveUpAt = Math.min(endBy, clock() + 2 * attemptMs);
    for (;;) {
      const outcome = await gateway.ask({
        method: cancelOrder.method,
        path: cancelOrder.path,
        query: [],
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: new TextEncoder().encode(body),
        requestId: `mass-cancel-${idempotencyKey}`,
        deadline: Math.min(clock() + attemptMs, endBy),
      });
      if (outcome.kind !== 'refused') return 'accepted';
      const { code } = outcome.refusal;
      if (code === 'outcome_unknown') return 'unknown';
      const { retryAfterSeconds = 1 } = problemOf(outcome.refusal);
      const pauseMs = Math.max(minPauseMs, retryAfterSeconds * 1000);
      if (!repeatableCodes.has(code) || clock() + pauseMs >= giveUpAt) return 'refused';
      await sleep(pauseMs);
    }
  };
}
