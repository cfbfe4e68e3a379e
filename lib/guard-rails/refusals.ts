/** The guard rails' refusals of orders, of which nothing was sent. */

import { shorten } from '../catalogue/faults.ts';
import { type Fault, notSent, type Refusal } from '../problem.ts';
import type { CancelledScope, ScopeFailure, ScopeKind } from './guard.ts';
import type { CheckName, UnknownName } from './limits.ts';
import { readAgain } from './notional.ts';

const whose: Readonly<Record<ScopeKind, string>> = {
  gateway: 'this gateway',
  account: 'this account',
  user: 'this user',
};

/** Refusal by the kill switch. It does not contain the operator's reason. */
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
 * @param failures at least one
 * @param cancelled kinds of the scopes whose open orders are being cancelled
 */
export function blocked(
  failures: readonly ScopeFailure[],
  cancelled: readonly CancelledScope['kind'][] = [],
): Refusal {
  const errors = failures.map(faultOf);
  const words = errors.map(({ name, detail }) => `${name}: ${detail}`).join(' ');
  const cancels = cancelled.map((kind) => ` Open orders of ${whose[kind]} are being cancelled.`).join('');
  return {
    code: 'order_blocked',
    detail: `${words}${cancels} ${notSent}`,
    errors,
    blockedBy: failures.map(({ check, scope }) => `${check} of ${scope}`),
  };
}

/** Refusal while a table counts as restored to an earlier time. */
export const ordersClosed: Refusal = { code: 'orders_closed' };

/** Refusal while the operators' controls cannot be read. */
export const controlsAway: Refusal = { code: 'trading_limits_unavailable' };

/** Advice to the caller for each unknown value that the operator does not let pass. */
const learnable: Readonly<Record<UnknownName, string>> = {
  order: 'Correct what is named.',
  category: 'Leave it out, or send the word that the order’s market and instrument_type make.',
  price: readAgain,
  contract:
    'Name instrument_type and symbol, and of each option its strike_price, option_expire_date and option_type.',
  crypto: 'Ask the operator.',
  event: 'Name the event_outcome.',
  futures: 'Ask the operator.',
};

const smaller = 'Send a smaller order.';
const listed = 'Send one that is in that list.';

const margin =
  'Sales, combinations and orders without a limit_price count at their quotes, and market_order_margin is added.';

const remedies: Readonly<Record<CheckName, string>> = {
  restricted_symbols: 'This symbol is not traded here.',
  allowed_symbols: listed,
  allowed_sides: listed,
  allowed_order_types: listed,
  allowed_sessions: listed,
  max_order_quantity: smaller,
  price_collar: 'Send a price that is nearer to the last one.',
  max_order_notional: `${smaller} ${margin}`,
  max_orders_per_minute: 'Send it again in 70 seconds.',
  max_duplicative_orders: 'Send it again later, if it is meant to be another order.',
  max_open_notional: `Send a smaller order, or wait until open orders have ended. ${margin}`,
};

/** Words for the order's value, the user's, or the reason why it is unknown. */
function comesTo({ check, unknown, isShare, added }: ScopeFailure, came: string | undefined): string {
  if (unknown) return `, and what the order comes to is not known: ${unknown.why}`;
  if (isShare) {
    const own =
      check === 'max_open_notional'
        ? `with this order, the user’s open orders come to ${came}`
        : `with this order, the user has sent ${came} within a minute`;
    return `, and each user may use as much of it as is left free, which is half of it for a single user: ${own}`;
  }
  if (came !== undefined) return `, the order ${check.startsWith('max_') ? 'comes to' : 'has'} ${came}`;
  return added === undefined ? '' : `, and this order alone comes to ${added}`;
}

function faultOf(failure: ScopeFailure): Fault {
  const { check, scope, limit, came, at, unknown } = failure;
  const received = came === undefined ? undefined : shorten(came);
  const remedy = unknown
    ? `${unknown.remedy ?? learnable[unknown.name]} An operator lets it pass with "${unknown.name}" in allow_unknown.`
    : remedies[check];
  return {
    in: 'body',
    name: at,
    check,
    detail: `${check} of ${whose[scope]} is ${limit}${comesTo(failure, received)}. ${remedy}`,
    allowed: limit,
    ...(received !== undefined && { received }),
  };
}
