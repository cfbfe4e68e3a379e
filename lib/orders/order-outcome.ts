/** The journal's answer to a client that asks what became of an order. */

import type { KeyedNames } from '../access/directory.ts';
import { textMembers } from '../kernel/json-members.ts';
import { isOver, type JournalEntry, JournalUnavailable, type OrderJournal } from './journal.ts';
import { orderKey } from './parts.ts';
import { type OrderRecord, readRecord } from './record.ts';

interface OrderQuestion {
  readonly account: string;
  readonly clientOrderId: string;
}

/**
 * The answer of `getOrderOutcome`. It names no user, because every reader of the account may see its orders.
 *
 * @param now in milliseconds since the epoch
 * @throws JournalUnavailable
 */
export async function orderOutcome(
  { journal, names }: { readonly journal: OrderJournal; readonly names: KeyedNames },
  asked: OrderQuestion,
  now: number,
): Promise<Readonly<Record<string, string>>> {
  const key = await orderKey(names, asked);
  const entry = (await journal.read([key])).get(key);
  // A missing or refused order may have been sent after the moment to which the table was restored.
  if ((!entry || entry.state === 'refused') && (await journal.isRestored?.())) throw new JournalUnavailable();
  const record = entry && readRecord(entry.record);
  // The entry of another program's order is about the request that replaced it.
  const isPlacement = record && !record.placed_elsewhere;
  return {
    client_order_id: asked.clientOrderId,
    ...(isPlacement ? told(entry, record, now) : { state: 'not_recorded' }),
  };
}

function told(
  entry: JournalEntry,
  { begun_at, request_id, outcome }: OrderRecord,
  now: number,
): Readonly<Record<string, string>> {
  const isSettled = entry.state === 'accepted' || entry.state === 'refused';
  return {
    // No instance works on a pending request whose time is over.
    state: entry.state === 'pending' && isOver(entry, now) ? 'unknown' : entry.state,
    begun_at,
    ...(outcome && isSettled && { settled_at: outcome.at }),
    ...(outcome?.evidence && { evidence: outcome.evidence }),
    ...idsIn(outcome?.answer),
    ...(outcome?.code && { code: outcome.code }),
    ...(outcome?.upstream_code && { upstream_error_code: outcome.upstream_code }),
    ...(request_id && { request_id }),
  };
}

const idsIn = (answer: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries((answer && textMembers(answer, answeredIds)) || []);

const answeredIds = ['order_id', 'client_combo_order_id', 'combo_order_id'];
