/** What the guard rails say to a client whose order they hold back: nothing of it was sent. */

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
  const words = errors.map(({ name, detail }) => `${name}: ${detail}`).join(' ');
  const cancels = cancelled.map((kind) => ` Open orders of ${whose[kind]} are being cancelled.`).join('');
  return {
    code: 'order_blocked',
    detail: `${words}${cancels} ${notSent}`,
    errors,
    blockedBy: failures.map(({ check, scope }) => `${check} of ${scope}`),
  };
}

/** A table was restored to an earlier time. */
export const ordersClosed: Refusal = { code: 'orders_closed' };

/** It is not known what operators have set. */
export const controlsAway: Refusal = { code: 'trading_limits_unavailable' };

/** What the caller can do about something that is not known, unless the operator lets it pass. */
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

/** The words of an order's own value, of a user's, or of why neither is known. */
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
