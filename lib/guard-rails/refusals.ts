/** What the guard rails say to a client whose order they hold back: nothing of it was sent. */

import { type Fault, notSent, type Refusal } from '../problem.ts';
import type { ScopeFailure, ScopeKind } from './guard.ts';

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
  detail: `Trading of ${whose[scope]} has been stopped since ${new Date(since).toISOString()}: orders are neither placed nor replaced until an operator resumes it. Cancels go through. ${notSent}`,
});

/** @param failures one at least */
export function blocked(failures: readonly ScopeFailure[]): Refusal {
  const errors = failures.map(faultOf);
  const words = errors.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
  return { code: 'order_blocked', detail: `${words}. ${notSent}`, errors };
}

/** It is not known what operators have set. */
export const controlsAway: Refusal = { code: 'trading_limits_unavailable' };

const faultOf = ({ check, scope, limit, came, at }: ScopeFailure): Fault => ({
  in: 'body',
  name: at,
  check,
  detail: `${check} of ${whose[scope]} is ${limit}${came === undefined ? '' : `, the order comes to ${came}`}`,
  allowed: limit,
  ...(came !== undefined && { received: came }),
});
