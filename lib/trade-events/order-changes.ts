/**
 * Decides what a sight of an order means beside what is known of it: an event, a note, or nothing. Two sights of the same
 * change give the same id, whichever of them comes first.
 *
 * A change of status or filled quantity is named by these, because both the stream and a read show them. What changes
 * neither is named by the upstream's request id, or, where a read finds it, by the terms.
 */

import { isFinal, isMore, type OrderState, phaseOf, termsDiffer } from '../orders/order-state.ts';

/** An order as the store keeps it. */
export interface OrderMemory extends OrderState {
  /** When it was placed, or seen first; in the upstream's time. */
  readonly firstAt: number;
  /** When this was written. */
  readonly notedAt: number;
  /** The terms changed then, and only a look-up by id that was made later tells the new ones; in the upstream's time. */
  readonly modifiedAt?: number;
  /** Number of replacements that reads have found. */
  readonly replacements?: number;
  /** Up to then, in the upstream's time, a read has told of replacements: an older message of one is a repetition. */
  readonly replacedAt?: number;
  /** The order failed then, in the upstream's time: what is told of a later time is another one's, because its id is free. */
  readonly failedAt?: number;
  /** The request id of the message that said so. */
  readonly failedBy?: string;
  /** Number of orders with this id that failed before this one. */
  readonly failures?: number;
}

/** An order's message on the stream. */
export interface StreamedOrder {
  readonly state: OrderState;
  readonly scene: string;
  /** The upstream's request id, or another text that only this message has. */
  readonly requestId: string;
  /** Time by the upstream's clock; absent when the message has none. */
  readonly at?: number;
}

interface OrderEvent {
  readonly kind: 'event';
  /** Texts that make the event's id. */
  readonly id: readonly string[];
  readonly scene?: string;
  /** Absent where the order stays as it is known. */
  readonly next?: OrderMemory;
}

/** Their messages tell of a request, not of the order's state. */
export const requestScenes: ReadonlySet<string> = new Set([
  'MODIFY_SUCCESS',
  'MODIFY_FAILED',
  'CANCEL_FAILED',
]);
const stateScenes: ReadonlySet<string> = new Set([
  'FILLED',
  'FINAL_FILLED',
  'PLACE_FAILED',
  'CANCEL_SUCCESS',
]);

/** @param now in the upstream's time */
export function streamedChange(
  memory: OrderMemory | undefined,
  { state, scene, requestId, at }: StreamedOrder,
  now: number,
): OrderEvent | 'repetition' {
  const { account, clientOrderId } = state;
  // It came late, or again: another order has the id since.
  if (memory?.failedBy === requestId && memory.status !== 'FAILED') return 'repetition';
  const isAnother = isAfterFailure(memory, at) && memory?.failedBy !== requestId;
  const known = isAnother ? undefined : memory;
  const failures = failuresBefore(memory, isAnother);
  const isOfState = stateScenes.has(scene) || (isFinal(state) && !requestScenes.has(scene));
  if (isOfState && phaseOf(state) !== 'SUBMITTED') {
    const filled = filledForId(known, state);
    const seen = { ...state, filled };
    const next = advanced(known, seen, at ?? now);
    const isFailure = next !== known && next.status === 'FAILED';
    return {
      kind: 'event',
      id: idOfState(seen, failures),
      scene,
      next: next === known ? known : { ...next, ...failures, ...(isFailure && { failedBy: requestId }) },
    };
  }
  const id = ['request', account, clientOrderId, scene, requestId];
  if (scene !== 'MODIFY_SUCCESS') return { kind: 'event', id, scene };
  // Only the date decides: a message shows no prices, and a replacement that its terms make a repetition would be lost.
  if (known?.replacedAt !== undefined && at !== undefined && at <= known.replacedAt) return 'repetition';
  const fresh = { ...state, status: 'SUBMITTED', filled: '0', firstAt: at ?? now, notedAt: now, ...failures };
  const base = known ?? fresh;
  const { terms: _, ...rest } = base;
  return { kind: 'event', id, scene, next: { ...rest, modifiedAt: at ?? now } };
}

const idOfState = (state: OrderState, { failures }: Pick<OrderMemory, 'failures'>): readonly string[] => [
  'state',
  state.account,
  state.clientOrderId,
  phaseOf(state),
  state.filled,
  ...(failures ? [`${failures}`] : []),
];

/** A placement that failed does not use its id up: another order may have it. (seen live) */
const isAfterFailure = (known: OrderMemory | undefined, at: number | undefined): boolean =>
  known?.failedAt !== undefined && at !== undefined && at > known.failedAt;

type FailuresBefore = Pick<OrderMemory, 'failures' | 'failedBy'>;

/** Where there were none, events have the ids that they always had. */
function failuresBefore(known: OrderMemory | undefined, isAnother: boolean): FailuresBefore {
  const failures = (known?.failures ?? 0) + (isAnother ? 1 : 0);
  return failures > 0 ? { failures, ...(known?.failedBy && { failedBy: known.failedBy }) } : {};
}

/** A message of an order's end may leave out the filled quantity: it is one change with the message that has it. */
function filledForId(known: OrderMemory | undefined, state: OrderState): string {
  if (!known || !isFinal(state)) return state.filled;
  if (known.status === state.status) return known.filled;
  return isMore(known.filled, state.filled) ? known.filled : state.filled;
}

/** Never back behind what is known: the filled quantity grows, and an end is the end. */
function advanced(known: OrderMemory | undefined, seen: OrderState, at: number): OrderMemory {
  const failed = seen.status === 'FAILED' && { failedAt: at };
  if (!known) return { ...seen, firstAt: at, notedAt: at, ...failed };
  if (isFinal(known)) return known;
  if (!isFinal(seen) && !isMore(seen.filled, known.filled)) return known;
  return { ...known, status: seen.status, filled: seen.filled, ...failed };
}

/** Circumstances in which an order was read. */
export interface Reading {
  /** The look-up by id: it is the truth. A list may lag behind. */
  readonly isLookUp: boolean;
  /** Earlier changes were told already, or were before the first stream; in the upstream's time, like all here. */
  readonly since: number;
  /** When the upstream was asked, and when the answer had come. */
  readonly from: number;
  readonly until: number;
  /** When the order was placed, and when it was last filled, where the read shows it. */
  readonly placedAt?: number;
  readonly filledAt?: number;
  /** All of it is filled: an upstream's list may still give an older status. */
  readonly isWhole: boolean;
}

type ReadStep =
  | OrderEvent
  | { readonly kind: 'note'; readonly next: OrderMemory }
  /** Only the look-up by id can tell. */
  | { readonly kind: 'look' }
  | { readonly kind: 'nothing' };

const nothing: ReadStep = { kind: 'nothing' };
/** An order is noted anew long before the store forgets it. */
const noteAgainMs = 7 * 86_400_000;

/** The first step of what a read means; when it is done, the same read may mean another one. */
export function readStep(memory: OrderMemory | undefined, read: OrderState, reading: Reading): ReadStep {
  if (!memory) return firstSight(read, reading, {});
  if (isAfterFailure(memory, reading.placedAt))
    return firstSight(read, reading, failuresBefore(memory, true));
  if (isFinal(memory)) return nothing;
  const known = memory;
  if (isTorn(read) && !reading.isLookUp) return { kind: 'look' };
  const { isLookUp, from, until, isWhole } = reading;
  const { terms = '{}' } = read;
  if (known.terms !== undefined && termsDiffer(known.terms, terms))
    return isLookUp ? replaced(known, terms, until) : { kind: 'look' };
  if (isFinal(read) || isMore(read.filled, known.filled)) {
    if (isWhole && !isFinal(read)) return isLookUp ? nothing : { kind: 'look' };
    const seen = { ...read, filled: filledForId(known, read) };
    return stateEvent(seen, { ...known, status: seen.status, filled: seen.filled }, until);
  }
  if (known.terms === undefined) {
    const { modifiedAt = Number.NEGATIVE_INFINITY, ...rest } = known;
    if (modifiedAt > Number.NEGATIVE_INFINITY && !isLookUp) return { kind: 'look' };
    return from > modifiedAt ? { kind: 'note', next: { ...rest, terms } } : nothing;
  }
  if (until - known.notedAt > noteAgainMs) return { kind: 'note', next: { ...known, notedAt: until } };
  return nothing;
}

/** The stream has no message for an order that is merely there, so that there is no event for it either. */
function firstSight(read: OrderState, reading: Reading, failures: FailuresBefore): ReadStep {
  const { since, until, placedAt, filledAt, isLookUp, isWhole } = reading;
  const moved = Math.max(placedAt ?? Number.POSITIVE_INFINITY, filledAt ?? 0);
  const isOld = moved < since;
  if (isOld && isFinal(read)) return nothing;
  if (isTorn(read) && !isLookUp) return { kind: 'look' };
  const next = { ...read, firstAt: placedAt ?? until, notedAt: until, ...failures };
  if (isOld || phaseOf(read) === 'SUBMITTED') return { kind: 'note', next };
  if (isWhole && !isFinal(read)) return isLookUp ? nothing : { kind: 'look' };
  return stateEvent(read, next, until);
}

/** A list that lags behind may show the status of one moment and the filled quantity of another. */
const isTorn = ({ status, filled }: OrderState): boolean =>
  filled === '0' ? status === 'FILLED' || status === 'PARTIAL_FILLED' : status === 'PENDING';

/** The scene that the stream's message of this phase would have. */
const sceneOfPhase: ReadonlyMap<string, string> = new Map([
  ['PARTIAL_FILLED', 'FILLED'],
  ['FILLED', 'FINAL_FILLED'],
  ['CANCELLED', 'CANCEL_SUCCESS'],
  ['FAILED', 'PLACE_FAILED'],
]);

function stateEvent(seen: OrderState, next: OrderMemory, until: number): OrderEvent {
  const scene = sceneOfPhase.get(phaseOf(seen));
  const failed = next.status === 'FAILED' && { failedAt: until + clockDoubtMs };
  return { kind: 'event', id: idOfState(seen, next), ...(scene && { scene }), next: { ...next, ...failed } };
}

/** The upstream's time is known from messages, as late as they were: what a read shows may seem to be later than it. */
const clockDoubtMs = 500;

/** The count, so that terms that come back are a change of their own. */
function replaced(known: OrderMemory, terms: string, until: number): OrderEvent {
  const replacements = (known.replacements ?? 0) + 1;
  const { account, clientOrderId } = known;
  const id = ['terms', account, clientOrderId, phaseOf(known), known.filled, `${replacements}`, terms];
  return {
    kind: 'event',
    id,
    scene: 'MODIFY_SUCCESS',
    next: { ...known, terms, replacements, replacedAt: until + clockDoubtMs },
  };
}
