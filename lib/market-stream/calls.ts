/** The subscription operations through a gateway: signed, at low priority, and within the limits that all share. */

import { subscribeMarketData, unsubscribeMarketData } from '../catalogue/market-stream.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { problemOf } from '../problem.ts';
import { stemOf } from '../upstream/upstream-code.ts';
import type { Subscription, SubscriptionAnswer, SubscriptionCalls } from './ports.ts';

/** Operations that the gateway of these calls must have. */
export const subscriptionOperations: readonly Operation[] = [subscribeMarketData, unsubscribeMarketData];

/** Each member of a snapshot record that changes is in one of these. */
const subTypes = ['SNAPSHOT', 'QUOTE'];
/** One attempt, the gateway's waiting for a permit included. */
const attemptMs = 10_000;

interface SubscriptionCallsOptions {
  /** The gateway of the app key's holder: `access: 'single-user'`, with the operations `subscriptionOperations`. */
  readonly gateway: Pick<Gateway, 'ask'>;
  readonly clock?: () => number;
}

/**
 * @example
 * const gateway = createGateway({ operations: subscriptionOperations, access: 'single-user', upstreamBaseUrl, secrets });
 * const calls = createSubscriptionCalls({ gateway });
 */
export function createSubscriptionCalls({
  gateway,
  clock = Date.now,
}: SubscriptionCallsOptions): SubscriptionCalls {
  let requests = 0;

  async function ask(
    { method, path }: Operation,
    { sessionId, category, symbols }: Subscription,
  ): Promise<SubscriptionAnswer> {
    const outcome = await gateway.ask({
      method,
      path,
      query: [],
      headers: { 'content-type': 'application/json' },
      body: new TextEncoder().encode(
        JSON.stringify({ session_id: sessionId, symbols, category, sub_types: subTypes }),
      ),
      requestId: `market-stream-${++requests}`,
      deadline: clock() + attemptMs,
      priority: 'events',
    });
    if (outcome.kind !== 'refused') return { ok: true };
    const { code, upstream } = outcome.refusal;
    return {
      ok: false,
      code: stemOf(upstream?.errorCode) || code,
      status: upstream?.status ?? problemOf(outcome.refusal).status,
      message: upstream?.message ?? '',
    };
  }

  return {
    subscribe: (call) => ask(subscribeMarketData, call),
    unsubscribe: (call) => ask(unsubscribeMarketData, call),
  };
}
