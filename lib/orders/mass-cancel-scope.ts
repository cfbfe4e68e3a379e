/** Which orders a request to cancel what is open means, and from when on a list without them says that all is done. */

import { accountScope, stackScope, userScope } from '../guard-rails/controls.ts';
import type { MassCancel } from '../guard-rails/mass-cancels.ts';
import { absenceCountsAfterMs, isOver, type JournalEntry, maxSendMs } from './journal.ts';
import { momentsIn, type ReadOrder } from './order-reads.ts';
import { readRecord } from './record.ts';

/** An open order, with what is known of its placing. */
export interface OpenOrder {
  readonly order: ReadOrder;
  /** The keyed name of the user who placed it through the gateway; undefined where that is not known. */
  readonly user: string | undefined;
  /** As the gateway or the upstream knows it, the earlier one; undefined where neither does. */
  readonly placedAt: number | undefined;
}

/** The list of open orders may lag behind: it may not show yet what was placed, or show what is cancelled. */
const listLagMs = 30_000;

const userPrefix = userScope('');
const accountPrefix = accountScope('');

/** Of another scope it is not known what it means: it is never done. */
export const isKnownScope = ({ scope }: MassCancel): boolean =>
  scope === stackScope || scope.startsWith(userPrefix) || scope.startsWith(accountPrefix);

/** @param name the account's keyed name */
export const meansAccount = ({ scope }: MassCancel, name: string): boolean =>
  !scope.startsWith(accountPrefix) || scope === accountScope(name);

/** Of an account that it means. A user's request means what is known to be the user's, and nothing else. */
export const meansOrder = ({ scope, placedBefore }: MassCancel, { user, placedAt }: OpenOrder): boolean =>
  (!scope.startsWith(userPrefix) || (user !== undefined && scope === userScope(user))) &&
  (placedAt === undefined || placedAt <= placedBefore);

/**
 * @param entry of the order's id; one that was refused says nothing of an order that is open
 * @throws TypeError for an entry that is none
 */
export function openOrderOf(order: ReadOrder, entry: JournalEntry | undefined): OpenOrder {
  const own = entry && entry.state !== 'refused' ? entry : undefined;
  // Of one that was sealed with another identity key nothing is known.
  const record = own && own.record !== '' ? readRecord(own.record) : undefined;
  // Where another program placed it, its entry is as old as its first replacement.
  const begunAt = record?.placed_elsewhere ? undefined : own?.at;
  const moments = [begunAt, momentsIn(order.payload).placedAt].filter((at) => at !== undefined);
  return {
    order,
    user: record?.user,
    placedAt: moments.length > 0 ? Math.min(...moments) : undefined,
  };
}

/**
 * Whether a list that was asked for then shows every order that the request means. Until then one may come that was on its
 * way: no evidence says earlier that it does not, because a journal that knows of it may do so before any list.
 */
export const isLateEnough = ({ placedBefore }: MassCancel, askedAt: number): boolean =>
  isOver({ sendBy: placedBefore + maxSendMs }, askedAt - absenceCountsAfterMs - listLagMs);
