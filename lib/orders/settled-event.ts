/** The event about the outcome of a request that was unknown, or known wrongly, before. */

import type { KeyedNames } from '../access/directory.ts';
import { textMembers } from '../kernel/json-members.ts';
import type { AuditLine } from './audit-line.ts';

export const orderSettledName = 'OrderSettled';

export interface OrderSettledEvent {
  readonly detailType: typeof orderSettledName;
  /** JSON, see `schemas.ts`. */
  readonly detail: string;
}

/**
 * Whether a change settled its entry by evidence other than the answer to the request itself. A refused request that turns
 * out to be accepted counts, too.
 */
function isSettled({ before, after, record }: AuditLine): boolean {
  if (after !== 'accepted' && after !== 'refused') return false;
  if (before === undefined || before === after || record?.placed_elsewhere) return false;
  const evidence = record?.outcome?.evidence;
  return before !== 'pending' || (evidence !== 'answer' && evidence !== 'not_sent');
}

/** @returns undefined for a change that settled nothing */
export async function settledEvent(
  line: AuditLine,
  names: KeyedNames,
): Promise<OrderSettledEvent | undefined> {
  const { record } = line;
  if (!isSettled(line) || !record?.outcome) return undefined;
  const { account_id, client_order_id, operation, request_id, user, app, begun_at, outcome } = record;
  const { evidence, at, answer, code, upstream_code } = outcome;
  const orderId = answer === undefined ? undefined : textMembers(answer, ['order_id'])?.get('order_id');
  const [event_id, account] = await Promise.all([
    names.nameOf('event', line.id),
    account_id === undefined ? undefined : names.nameOf('account', account_id),
  ]);
  const detail = {
    event_id,
    account,
    account_id,
    client_order_id,
    order_id: orderId,
    operation,
    state: line.after,
    evidence,
    code,
    upstream_code,
    request_id,
    user,
    app,
    begun_at,
    settled_at: at,
  };
  return { detailType: orderSettledName, detail: JSON.stringify(detail) };
}
