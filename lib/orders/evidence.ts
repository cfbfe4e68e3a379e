/** What a sight of an order at the upstream says of an entry of the journal. */

import { orderMembers } from '../guard-rails/order.ts';
import { clockSkewMs } from '../kernel/clock-skew.ts';
import { textMembers } from '../kernel/json-members.ts';
import { stemOf } from '../upstream/upstream-code.ts';
import { absenceCountsAfterMs, type EntryOutcome, isOver, type JournalEntry } from './journal.ts';
import { momentsIn, type ReadOrder } from './order-reads.ts';
import { isFinal, showsEach, termsDiffer, termsOf } from './order-state.ts';
import { askedOrder, ordersIn } from './parts.ts';
import {
  type AbsenceProof,
  type Evidence,
  isUnseen,
  type OrderRecord,
  readRecord,
  withOutcome,
} from './record.ts';

/** An order that was seen, and how. */
export interface OrderSight {
  readonly by: Extract<Evidence, 'look_up' | 'list'>;
  readonly found: ReadOrder;
}

export type SettledOrder =
  | { readonly state: 'accepted'; readonly evidence: Evidence; readonly answer: string }
  /** It had no effect. `usedByOther`: another order has the id. */
  | { readonly state: 'refused'; readonly evidence: Evidence; readonly usedByOther?: true };

/** What is written of an entry that evidence has settled. */
export const outcomeBy = (
  { key, attempt, record, exposure }: JournalEntry,
  settled: SettledOrder,
  at: number,
): EntryOutcome => {
  const before = readRecord(record);
  const said = saidOf(settled, exposure ?? before.outcome?.exposure);
  return { key, attempt, state: settled.state, record: JSON.stringify(withOutcome(before, at, said)) };
};

const saidOf = (settled: SettledOrder, exposure: string | undefined) =>
  settled.state === 'accepted'
    ? {
        evidence: settled.evidence,
        answer: settled.answer,
        // Others may write meanwhile that it is absent, and take it out of the counters: it is to be counted again.
        ...(exposure !== undefined && { exposure }),
      }
    : { evidence: settled.evidence, ...(settled.usedByOther && { code: 'idempotency_conflict' }) };

/** Undefined when the sight settles nothing. */
export function settledBy(entry: JournalEntry, sight: OrderSight): SettledOrder | undefined {
  const record = readRecord(entry.record);
  const { ended, answer = answerOf(sight.found.payload) } = record.outcome ?? {};
  if (ended) return { state: 'accepted', evidence: sight.by, answer };
  switch (record.kind) {
    case 'placement':
      return placedBy(entry, record, sight);
    case 'cancellation':
      return cancelledBy(sight.found, sight.by);
    case 'replacement':
      return replacedBy(record, sight.found, sight.by);
    case 'other':
      return undefined;
  }
}

/**
 * Other terms are those of a replacement, or of another order that had the id before: of that it says when it was placed.
 * Where it was placed in the minute before, by clocks that differ, this stays open.
 */
function placedBy(
  entry: JournalEntry,
  record: OrderRecord,
  { found, by }: OrderSight,
): SettledOrder | undefined {
  if (isEarlierFailure(entry, found)) return undefined;
  const other = { state: 'refused', evidence: by, usedByOther: true } as const;
  if (isOtherOrder(record, found.payload)) return other;
  const { placedAt } = momentsIn(found.payload);
  const isEarlier = placedAt !== undefined && placedAt < entry.at - clockSkewMs;
  if (hasOtherTerms(record, found)) {
    if (isEarlier) return other;
    if (placedAt === undefined || placedAt < entry.at) return undefined;
  }
  // Symbols and sides of options and the like are not compared.
  if (isEarlier && !isUsedUp(record) && membersAsked(record).get('instrument_type') !== 'EQUITY')
    return undefined;
  return { state: 'accepted', evidence: by, answer: answerOf(found.payload) };
}

/** A placement that failed leaves its id: what is shown may be that of an earlier request, and says nothing of this one. */
export function isEarlierFailure(entry: JournalEntry, { state, payload }: ReadOrder): boolean {
  const { placedAt = Number.NEGATIVE_INFINITY } = momentsIn(payload);
  return entry.listedAs === 'placements' && state.status === 'FAILED' && placedAt < entry.at;
}

/** Whether the order that an answer has accepted cannot be the one that failed: it was placed later, by any clock. */
export function isFailureBefore(entry: JournalEntry, { state, payload }: ReadOrder): boolean {
  const { kind, outcome } = readRecord(entry.record);
  const isPlaced = kind === 'placement' && outcome?.evidence === 'answer';
  const { placedAt = entry.at } = momentsIn(payload);
  return state.status === 'FAILED' && isPlaced && placedAt < entry.at - clockSkewMs;
}

const dayMs = 24 * 60 * 60_000;
/** From one look-up that finds nothing to the one that counts; of an account in which nothing shows that look-ups work. */
const apartMs: Readonly<Record<AbsenceProof, number>> = {
  other_order: 5 * 60_000,
  no_other_order: dayMs,
};
/**
 * From the last moment of sending to the earliest of the two, so that absence counts when the second one comes. What is on
 * its way earlier is not found, and rightly so: after that a single wrong look-up would decide.
 */
const firstAfterMs = absenceCountsAfterMs - apartMs.other_order;

/**
 * What a look-up that finds nothing says of a placement. A single one says nothing: an upstream may answer wrongly, and an
 * order that was taken a moment ago may not be visible yet. So there are two of them, minutes apart, and at each time the
 * same look-up finds another order of the account, or else there is a day between them.
 *
 * @param askedAt in milliseconds since the epoch
 * @returns what to write of the entry, `unknown` for the first one; undefined for nothing
 */
export function absentBy(
  entry: JournalEntry,
  askedAt: number,
  proof: AbsenceProof,
): EntryOutcome | undefined {
  const record = readRecord(entry.record);
  if (record.kind !== 'placement' || !isOver(entry, askedAt - firstAfterMs)) return undefined;
  const { key, attempt, exposure } = entry;
  const { absent: first } = record;
  const passedMs = first ? askedAt - Date.parse(first.at) : 0;
  const isEnough = first && passedMs >= Math.max(apartMs[first.proof], apartMs[proof]);
  if (!first || (!isEnough && first.proof === 'no_other_order' && proof === 'other_order')) {
    const absent = { at: new Date(askedAt).toISOString(), proof };
    return { key, attempt, state: 'unknown', record: JSON.stringify({ ...record, absent }) };
  }
  if (!isEnough) return undefined;
  const said = { evidence: 'absence', ...(exposure !== undefined && { exposure }) } as const;
  return { key, attempt, state: 'refused', record: JSON.stringify(withOutcome(record, askedAt, said)) };
}

/** Refused because nothing was found of it, or an operator said so: an order that shows after all was placed. */
export const isAbsent = (entry: JournalEntry | undefined): boolean =>
  entry?.state === 'refused' && isUnseen(entry.record);

/**
 * How long an order may stay open that a list does not show yet. The interface names no end of an order that is good till
 * cancelled, nor the latest day of one that is good till a date; brokers end the first after half a year at most, and twice
 * that is kept. Any other order ends with its trading day, which comes within a week.
 */
export function mayBeOpen({ at, record }: JournalEntry, now: number): boolean {
  const { asked, list } = readRecord(record);
  const orders = list === undefined ? [asked] : ordersIn(asked, list);
  const terms = orders.map((order) => textMembers(order, ['time_in_force'])?.get('time_in_force') ?? '');
  return now < at + (terms.every((term) => ['DAY', 'IOC', 'FOK'].includes(term)) ? 8 : 366) * dayMs;
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
  const isAlone = record.list === undefined || ordersIn(record.asked, record.list).length === 1;
  const [asksFor = isAlone ? 'NORMAL' : undefined, has] = [
    order.get('combo_type'),
    members?.get('combo_type'),
  ];
  if (asksFor !== undefined && has !== undefined && (asksFor === 'NORMAL') !== (has === 'NORMAL'))
    return true;
  const instrument = order.get('instrument_type') ?? 'EQUITY';
  if (instrument !== 'EQUITY') return false;
  const differs = (name: string, plain: (text: string) => string) => {
    const [wanted, got] = [order.get(name), members?.get(name)];
    return wanted !== undefined && got !== undefined && plain(wanted) !== plain(got);
  };
  return differs('symbol', comparableSymbol) || differs('side', buysOrSells);
}

/** The upstream said that the id was used before: by another order, or by this one, which something delivered twice. */
const isUsedUp = ({ outcome }: OrderRecord): boolean =>
  stemOf(outcome?.upstream_code) === 'TRADE_PLACE_ORDER_REPEAT';

function hasOtherTerms(record: OrderRecord, { state }: ReadOrder): boolean {
  const wanted = textMembers(askedOrder(record) ?? '{}', comparedTerms);
  const terms = new Map([...(wanted ?? [])].map(([name, value]) => [termNamed[name] ?? name, value]));
  return state.terms !== undefined && termsDiffer(termsOf(terms), state.terms);
}

const comparedTerms = ['quantity', 'limit_price', 'stop_price', 'order_type', 'total_cash_amount'] as const;
const termNamed: Readonly<Record<string, string>> = { quantity: 'total_quantity' };

/** `BRK.B` and `BRK B` are one. */
const comparableSymbol = (symbol: string) => symbol.toUpperCase().replace(/[^A-Z0-9]/g, '');

const buysOrSells = (side: string) => (side === 'BUY' ? 'BUY' : 'SELL');

const membersAsked = (record: OrderRecord): ReadonlyMap<string, string> =>
  orderMembers(askedOrder(record) ?? '{}');

const answerMembers = ['client_order_id', 'order_id', 'client_combo_order_id', 'combo_order_id'] as const;

/** What placing answers, made of what the upstream shows of the order. */
export function answerOf(shown: string): string {
  const members = textMembers(shown, answerMembers);
  const present = answerMembers.flatMap((name) => {
    const value = members?.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return JSON.stringify(Object.fromEntries(present));
}

/** An order that is not cancelled may be later: only its end says that this request changed nothing. */
function cancelledBy({ state, payload }: ReadOrder, by: Evidence): SettledOrder | undefined {
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
): SettledOrder | undefined {
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
