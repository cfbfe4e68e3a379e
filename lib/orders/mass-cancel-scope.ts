/** Decides which open orders a mass cancel covers, and from when a list without them proves that it is done. */

import { accountScope, stackScope, userScope } from '../guard-rails/controls.ts';
import type { MassCancel } from '../guard-rails/mass-cancels.ts';
import { absenceCountsAfterMs, isOver, type JournalEntry, maxSendMs } from './journal.ts';
import { momentsIn, type ReadOrder } from './order-reads.ts';
import { readRecord } from './record.ts';

/** An open order, with its user and time of placing as far as they are known. */
export interface OpenOrder {
  readonly order: ReadOrder;
  /** Keyed name of the user who placed it through the gateway; undefined where none is known. */
  readonly user: string | undefined;
  /** The earlier of the gateway's and the upstream's times of placing; undefined where neither has one. */
  readonly placedAt: number | undefined;
}

/** Lag of the list of open orders: it may not yet show a placed order, or still show a cancelled one. */
const listLagMs = 30_000;

const userPrefix = userScope('');
const accountPrefix = accountScope('');

/** Whether the scope is one of the known ones; a mass cancel of another scope is never finished. */
export const isKnownScope = ({ scope }: MassCancel): boolean =>
  scope === stackScope || scope.startsWith(userPrefix) || scope.startsWith(accountPrefix);

/** @param name the account's keyed name */
export const meansAccount = ({ scope }: MassCancel, name: string): boolean =>
  !scope.startsWith(accountPrefix) || scope === accountScope(name);

/** Whether a mass cancel covers an order of one of its accounts; a user's covers only orders known to be the user's. */
export const meansOrder = ({ scope, placedBefore }: MassCancel, { user, placedAt }: OpenOrder): boolean =>
  (!scope.startsWith(userPrefix) || (user !== undefined && scope === userScope(user))) &&
  (placedAt === undefined || placedAt <= placedBefore);

/**
 * @param entry the entry under the order's id; a refused one says nothing about an open order
 * @throws TypeError for a malformed entry
 */
export function openOrderOf(order: ReadOrder, entry: JournalEntry | undefined): OpenOrder {
  const own = entry && entry.state !== 'refused' ? entry : undefined;
  // A record that was sealed with another identity key is empty.
  const record = own && own.record !== '' ? readRecord(own.record) : undefined;
  // The entry of another program's order is as old as the order's first replacement.
  const begunAt = record?.placed_elsewhere ? undefined : own?.at;
  const moments = [begunAt, momentsIn(order.payload).placedAt].filter((at) => at !== undefined);
  return {
    order,
    user: record?.user,
    placedAt: moments.length > 0 ? Math.min(...moments) : undefined,
  };
}

/**
 * Whether a list requested at `askedAt` shows every order that the mass cancel covers. Before that, an order that was on
 * its way may still come, and no earlier evidence rules it out: the journal may have its entry before any list shows it.
 */
export const isLateEnough = ({ placedBefore }: MassCancel, askedAt: number): boolean =>
  isOver({ sendBy: placedBefore + maxSendMs }, askedAt - absenceCountsAfterMs - listLagMs);
