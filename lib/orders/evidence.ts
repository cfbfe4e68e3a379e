/** Decides from a sight of an order at the upstream, or its absence, what became of an entry of the journal. */

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

/** An order that the upstream showed, and the kind of read that showed it. */
export interface OrderSight {
  readonly by: Extract<Evidence, 'look_up' | 'list'>;
  readonly found: ReadOrder;
}

export type SettledOrder =
  | { readonly state: 'accepted'; readonly evidence: Evidence; readonly answer: string }
  /** The request had no effect. `usedByOther`: another order has the id. */
  | { readonly state: 'refused'; readonly evidence: Evidence; readonly usedByOther?: true };

/** The outcome to write for an entry that evidence has settled. */
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
        // Another instance may record the order as absent meanwhile, and uncount it; the exposure allows counting it again.
        ...(exposure !== undefined && { exposure }),
      }
    : { evidence: settled.evidence, ...(settled.usedByOther && { code: 'idempotency_conflict' }) };

/** The outcome that a sight proves; undefined when it settles nothing. */
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
 * The outcome of a placement from a sight. If the shown terms differ, the order was replaced, or another order had the id
 * before; its time of placing shows which. A time within the minute before the entry leaves this open, because clocks differ.
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
  // Symbols and sides are compared only for stocks, so other instruments may be another order.
  if (isEarlier && !isUsedUp(record) && membersAsked(record).get('instrument_type') !== 'EQUITY')
    return undefined;
  return { state: 'accepted', evidence: by, answer: answerOf(found.payload) };
}

/** Whether the shown order is an earlier failed one: a failed placement frees its id, so it says nothing about this entry. */
export function isEarlierFailure(entry: JournalEntry, { state, payload }: ReadOrder): boolean {
  const { placedAt = Number.NEGATIVE_INFINITY } = momentsIn(payload);
  return entry.listedAs === 'placements' && state.status === 'FAILED' && placedAt < entry.at;
}

/** Whether the failed order that is shown was placed before the accepted one, whatever the clocks, so is another order. */
export function isFailureBefore(entry: JournalEntry, { state, payload }: ReadOrder): boolean {
  const { kind, outcome } = readRecord(entry.record);
  const isPlaced = kind === 'placement' && outcome?.evidence === 'answer';
  const { placedAt = entry.at } = momentsIn(payload);
  return state.status === 'FAILED' && isPlaced && placedAt < entry.at - clockSkewMs;
}

const dayMs = 24 * 60 * 60_000;
/** Wait between two empty look-ups before an order counts as absent; longer while nothing shows that look-ups work. */
const apartMs: Readonly<Record<AbsenceProof, number>> = {
  other_order: 5 * 60_000,
  no_other_order: dayMs,
};
/**
 * Wait from the last moment of sending to the first of the two look-ups, so that absence counts when the second one comes.
 * An earlier look-up may miss a request that is still on its way; then a single wrong look-up would decide.
 */
const firstAfterMs = absenceCountsAfterMs - apartMs.other_order;

/**
 * The outcome of a placement after a look-up that found nothing. A single one proves nothing: an upstream may answer
 * wrongly, and an order that was just accepted may not be visible yet. So two are needed, minutes apart, while each time a
 * look-up finds another order of the account; without such an order, the two must be a day apart.
 *
 * @param askedAt when the look-up began, in milliseconds since the epoch
 * @returns the outcome to write, `unknown` for the first look-up; undefined when there is nothing to write
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

/** Whether an entry was refused by absence or an operator's decision, so that its order may still show. */
export const isAbsent = (entry: JournalEntry | undefined): boolean =>
  entry?.state === 'refused' && isUnseen(entry.record);

/**
 * Whether an order that no list shows may still be open. The interface states no end for good-till-cancelled orders, and no
 * latest good-till-date; brokers end the former after half a year at most, and this allows twice that. Any other order ends
 * with its trading day, which comes within a week.
 */
export function mayBeOpen({ at, record }: JournalEntry, now: number): boolean {
  const { asked, list } = readRecord(record);
  const orders = list === undefined ? [asked] : ordersIn(asked, list);
  const terms = orders.map((order) => textMembers(order, ['time_in_force'])?.get('time_in_force') ?? '');
  return now < at + (terms.every((term) => ['DAY', 'IOC', 'FOK'].includes(term)) ? 8 : 366) * dayMs;
}

/**
 * Whether the shown order cannot be the requested one, because another order used the id. Compares only members that a
 * replacement cannot change; symbol and side only for stocks, because the upstream writes others in more than one form. In
 * doubt it counts as the same order: a wrong "nothing was placed" would be worse.
 */
function isOtherOrder(record: OrderRecord, shown: string): boolean {
  const order = membersAsked(record);
  const members = textMembers(shown, ['symbol', 'side', 'combo_type']);
  // A single order is no part of a combination; the upstream's names for the parts do not matter.
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

/** Whether the upstream called the id used: by another order, or by this request, delivered twice on the way. */
const isUsedUp = ({ outcome }: OrderRecord): boolean =>
  stemOf(outcome?.upstream_code) === 'TRADE_PLACE_ORDER_REPEAT';

function hasOtherTerms(record: OrderRecord, { state }: ReadOrder): boolean {
  const wanted = textMembers(askedOrder(record) ?? '{}', comparedTerms);
  const terms = new Map([...(wanted ?? [])].map(([name, value]) => [termNamed[name] ?? name, value]));
  return state.terms !== undefined && termsDiffer(termsOf(terms), state.terms);
}

const comparedTerms = ['quantity', 'limit_price', 'stop_price', 'order_type', 'total_cash_amount'] as const;
const termNamed: Readonly<Record<string, string>> = { quantity: 'total_quantity' };

/** Spells `BRK.B` and `BRK B` alike. */
const comparableSymbol = (symbol: string) => symbol.toUpperCase().replace(/[^A-Z0-9]/g, '');

const buysOrSells = (side: string) => (side === 'BUY' ? 'BUY' : 'SELL');

const membersAsked = (record: OrderRecord): ReadonlyMap<string, string> =>
  orderMembers(askedOrder(record) ?? '{}');

const answerMembers = ['client_order_id', 'order_id', 'client_combo_order_id', 'combo_order_id'] as const;

/** The answer to a placement, rebuilt from the shown order. */
export function answerOf(shown: string): string {
  const members = textMembers(shown, answerMembers);
  const present = answerMembers.flatMap((name) => {
    const value = members?.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return JSON.stringify(Object.fromEntries(present));
}

/** The outcome of a cancel. An open order may still be cancelled: only another end proves that the request changed nothing. */
function cancelledBy({ state, payload }: ReadOrder, by: Evidence): SettledOrder | undefined {
  if (state.status === 'CANCELLED') return { state: 'accepted', evidence: by, answer: answerOf(payload) };
  return isFinal(state) ? { state: 'refused', evidence: by } : undefined;
}

/**
 * The outcome of a replacement: accepted if the order shows all requested terms. Other terms prove nothing: this
 * replacement may have been executed, and another one after it.
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

/** The requested terms; undefined if the request replaces other members, too, such as legs: no term shows those. */
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
