/** What the guard rails say to a client whose order they hold back: nothing of it was sent. */

import { type Fault, notSent, type Refusal } from '../problem.ts';
import { notKnown } from './checks.ts';
import type { CancelledScope, ScopeFailure, ScopeKind } from './guard.ts';

const whose: Readonly<Record<ScopeKind, string>> = {
  gateway: 'this gateway',
  account: 'this account',
  user: 'this user',
};

/** The kill switch. Its reason is the operator's. */
export const stopped = ({
  scope,
  since,
}: {
  readonly scope: ScopeKind;
  readonly since: number;
}): Refusal => ({
  code: 'order_blocked',
  blockedBy: [`stop of ${scope}`],
  detail: `Trading of ${whose[scope]} has been stopped since ${new Date(since).toISOString()}: orders are neither placed nor replaced until an operator resumes it. Cancels go through. ${notSent}`,
});

/**
 * @param failures one at least
 * @param cancelled whose open orders are being cancelled for it
 */
export function blocked(
  failures: readonly ScopeFailure[],
  cancelled: readonly CancelledScope['kind'][] = [],
): Refusal {
  const errors = failures.map(faultOf);
  const words = errors.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
  const cancels = cancelled.map((kind) => ` Open orders of ${whose[kind]} are being cancelled.`).join('');
  return {
    code: 'order_blocked',
    detail: `${words}.${cancels} ${notSent}`,
    errors,
    blockedBy: failures.map(({ check, scope }) => `${check} of ${scope}`),
  };
}

/** A table was restored to an earlier time. */
export const ordersClosed: Refusal = { code: 'orders_closed' };

/** It is not known what operators have set. */
export const controlsAway: Refusal = { code: 'trading_limits_unavailable' };

const comesTo = (came: string | undefined): string => {
  if (came === undefined) return '';
  return came === notKnown ? ', and what the order comes to is not known' : `, the order comes to ${came}`;
};

const faultOf = ({ check, scope, limit, came, at, isShare }: ScopeFailure): Fault => ({
  in: 'body',
  name: at,
  check,
  detail: `${check} of ${whose[scope]} is ${limit}${comesTo(came)}${isShare ? ', and this user’s share of it is used up' : ''}`,
  allowed: limit,
  ...(came !== undefined && { received: came }),
});
