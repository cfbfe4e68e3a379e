/** What a sight of an order at the upstream says of an entry of the journal. */

import { textMembers } from '../json-members.ts';
import { stemOf } from '../upstream-code.ts';
import { absenceCountsAfterMs, type EntryOutcome, isOver, type JournalEntry } from './journal.ts';
import type { ReadOrder } from './order-reads.ts';
import { isFinal, showsEach, termsDiffer, termsOf } from './order-state.ts';
import { askedOrder } from './parts.ts';
import { type Evidence, type OrderRecord, readRecord, withOutcome } from './record.ts';

/** How the order was looked for, and what was found. */
export interface Sight {
  readonly by: Extract<Evidence, 'look_up' | 'list' | 'event'>;
  readonly found: ReadOrder | 'not_found';
  /** When the upstream was asked, in milliseconds since the epoch. */
  readonly askedAt: number;
}

export type Settled =
  | { readonly state: 'accepted'; readonly evidence: Evidence; readonly answer: string }
  /** It had no effect. `usedByOther`: another order has the id. */
  | { readonly state: 'refused'; readonly evidence: Evidence; readonly usedByOther?: true };

/** What is written of an entry that evidence has settled. */
export const outcomeBy = (
  { key, attempt, record }: JournalEntry,
  settled: Settled,
  at: number,
): EntryOutcome => ({
  key,
  attempt,
  state: settled.state,
  record: JSON.stringify(withOutcome(readRecord(record), at, saidOf(settled))),
});

const saidOf = (settled: Settled) =>
  settled.state === 'accepted'
    ? { evidence: settled.evidence, answer: settled.answer }
    : { evidence: settled.evidence, ...(settled.usedByOther && { code: 'idempotency_conflict' }) };

/** Undefined when the sight settles nothing. */
export function settledBy(entry: JournalEntry, sight: Sight): Settled | undefined {
  const record = readRecord(entry.record);
  switch (record.kind) {
    case 'placement':
      return placedBy(entry, record, sight);
    case 'cancellation':
      return sight.found === 'not_found' ? undefined : cancelledBy(sight.found, sight.by);
    case 'replacement':
      return sight.found === 'not_found' ? undefined : replacedBy(record, sight.found, sight.by);
    case 'other':
      return undefined;
  }
}

function placedBy(entry: JournalEntry, record: OrderRecord, sight: Sight): Settled | undefined {
  const { found, by, askedAt } = sight;
  if (found !== 'not_found') {
    // It may come late, and be that of an earlier request, whose refusal freed the id.
    if (by === 'event' && found.state.status === 'FAILED') return undefined;
    return isOtherOrder(record, found.payload) || (isUsedUp(record) && hasOtherTerms(record, found))
      ? { state: 'refused', evidence: by, usedByOther: true }
      : { state: 'accepted', evidence: by, answer: answerOf(found.payload) };
  }
  // Lists lag behind, and an order that was taken a moment ago may not be visible yet.
  const counts = by === 'look_up' && isOver(entry, askedAt - absenceCountsAfterMs);
  return counts ? { state: 'refused', evidence: 'absence' } : undefined;
}

/**
 * Whether the order that is shown cannot be the one that was asked for: its id was used for another one. By what no
 * replacement changes; symbol and side of stocks alone, because of others the upstream writes them in more than one form.
 * In doubt it is the same: to say that nothing was placed would be worse.
 */
function isOtherOrder(record: OrderRecord, shown: string): boolean {
  const order = membersAsked(record);
  const members = textMembers(shown, ['symbol', 'side', 'combo_type']);
  // An order of its own is no part of a combination; how the upstream names the parts does not matter.
  const [asksFor, has] = [order?.get('combo_type'), members?.get('combo_type')];
  if (asksFor !== undefined && has !== undefined && (asksFor === 'NORMAL') !== (has === 'NORMAL'))
    return true;
  if (order?.get('instrument_type') !== 'EQUITY') return false;
  const differs = (name: string, plain: (text: string) => string) => {
    const [wanted, got] = [order.get(name), members?.get(name)];
    return wanted !== undefined && got !== undefined && plain(wanted) !== plain(got);
  };
  return differs('symbol', plainSymbol) || differs('side', buysOrSells);
}

/** The upstream said that the id was used before: this request placed nothing. */
const isUsedUp = ({ outcome }: OrderRecord): boolean =>
  stemOf(outcome?.upstream_code) === 'TRADE_PLACE_ORDER_REPEAT';

/** A replacement changes them, so that they count only where it is known that this request placed nothing. */
function hasOtherTerms(record: OrderRecord, { state }: ReadOrder): boolean {
  const wanted = textMembers(askedOrder(record) ?? '{}', ['quantity', 'limit_price']);
  const terms = new Map([...(wanted ?? [])].map(([name, value]) => [termNamed[name] ?? name, value]));
  return state.terms !== undefined && termsDiffer(termsOf(terms), state.terms);
}

const termNamed: Readonly<Record<string, string>> = { quantity: 'total_quantity' };

/** `BRK.B` and `BRK B` are one. */
const plainSymbol = (symbol: string) => symbol.toUpperCase().replace(/[^A-Z0-9]/g, '');

const buysOrSells = (side: string) => (side === 'BUY' ? 'BUY' : 'SELL');

const membersAsked = (record: OrderRecord): ReadonlyMap<string, string> | undefined =>
  textMembers(askedOrder(record) ?? '{}', ['symbol', 'side', 'combo_type', 'instrument_type']);

const answerMembers = ['client_order_id', 'order_id', 'client_combo_order_id', 'combo_order_id'] as const;

/** What placing answers, made of what the upstream shows of the order. */
function answerOf(shown: string): string {
  const members = textMembers(shown, answerMembers);
  const present = answerMembers.flatMap((name) => {
    const value = members?.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return JSON.stringify(Object.fromEntries(present));
}

/** An order that is not cancelled may be later: only its end says that this request changed nothing. */
function cancelledBy({ state, payload }: ReadOrder, by: Evidence): Settled | undefined {
  if (state.status === 'CANCELLED') return { state: 'accepted', evidence: by, answer: answerOf(payload) };
  return isFinal(state) ? { state: 'refused', evidence: by } : undefined;
}

/**
 * All terms that were asked for, where the upstream shows them. Other terms say nothing: this replacement may have been
 * executed, and another one after it.
 */
function replacedBy(
  { asked }: OrderRecord,
  { state, payload }: ReadOrder,
  by: Evidence,
): Settled | undefined {
  const wanted = wantedTerms(asked);
  if (state.terms === undefined || wanted === undefined) return undefined;
  const isShown = showsEach(wanted, state.terms) && !termsDiffer(wanted, state.terms);
  return isShown ? { state: 'accepted', evidence: by, answer: answerOf(payload) } : undefined;
}

/** Undefined where something else is to be replaced, too, such as legs: no term shows that. */
function wantedTerms(asked: string): string | undefined {
  const { modify_orders: modified } = JSON.parse(asked) as { readonly modify_orders?: readonly object[] };
  const [order, ...more] = modified ?? [];
  if (!order || more.length > 0) return undefined;
  const given = Object.entries(order).filter(([name, value]) => name !== 'client_order_id' && value !== null);
  if (given.length === 0 || given.some(([name]) => !replaceable.some((one) => one === name)))
    return undefined;
  const wanted = textMembers(JSON.stringify(order), replaceable) ?? new Map<string, string>();
  const quantity = wanted.get('quantity');
  return termsOf(quantity === undefined ? wanted : new Map([...wanted, ['total_quantity', quantity]]));
}

const replaceable = [
  'quantity',
  'limit_price',
  'stop_price',
  'order_type',
  'time_in_force',
  'trailing_type',
  'trailing_stop_step',
  'target_vol_percent',
  'max_target_percent',
  'algo_start_time',
  'algo_end_time',
] as const;
