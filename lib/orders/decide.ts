/**
 * An operator's decision about an order that no evidence decides, or whose end no read shows. It is written like evidence,
 * and weighs least: an order that shows after all is accepted and counts again, and an operator may revoke the decision.
 * No function's bundle contains this file.
 */

import type { KeyedNames } from '../access/directory.ts';
import { isReason } from '../guard-rails/control-changes.ts';
import { CountersignError } from '../signer/errors.ts';
import { type CountingJournal, isOver, type JournalEntry } from './journal.ts';
import type { OrderReads } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { orderKey } from './parts.ts';
import { readRecord, withOutcome } from './record.ts';
import {
  countedIn,
  mayHaveEnded,
  othersOf,
  recountKept,
  releaseExposure,
  settleSeen,
} from './release-ended.ts';

/**
 * `no_effect`: nothing was placed, so the id is free. `ended`: the order was placed and has ended. Both take it out of the
 * counters.
 */
export type Decision = 'accepted' | 'no_effect' | 'ended';

export interface DecisionParts {
  readonly journal: CountingJournal;
  /** Reads of orders: no decision contradicts an order that they show. */
  readonly orders: Pick<OrderReads, 'openOrders' | 'order'>;
  readonly names: KeyedNames;
  /** Operator who decides, for the audit: an ARN, for example. */
  readonly by: string;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface DecidedOrder {
  readonly account: string;
  /** Absent only with `ended`, which then ends every counted order of the account. */
  readonly clientOrderId?: string;
  readonly decision: Decision;
  readonly reason: string;
}

interface Decided {
  /** False when the counters could not be changed: the settlement changes them in its next run. */
  readonly isReleased: boolean;
  /** How many orders have ended. */
  readonly ended?: number;
  /** Result of the look-up before the decision, in words; absent where nothing was read. */
  readonly saw?: string;
}

/** Thrown when nothing was decided. The message is for the operator. */
export class DecisionRefused extends CountersignError<'decision_refused'> {
  override readonly name = 'DecisionRefused';
}

/** Time after the last moment of sending from which an operator may decide: evidence has decided nothing by then. */
export const undecidedAfterMs = 20 * 60_000;
/** Most entries that one `ended` reads. */
const maxEntries = 10_000;

/**
 * @throws DecisionRefused for an order that has not been unknown for long enough, whose outcome is known, that the upstream
 * shows, or that was not placed through this gateway
 *
 * @example
 * await decideOrder(parts, { account: '1234567', clientOrderId: 'a', decision: 'no_effect', reason: 'the desk says so' });
 */
export async function decideOrder(parts: DecisionParts, order: DecidedOrder): Promise<Decided> {
  if (!isReason(order.reason)) throw refuse('A reason has 1 to 500 visible characters.');
  return order.decision === 'ended' ? endOrders(parts, order) : decideOne(parts, order);
}

/** Decides one order, and with it all parts of its combination, which are placed together or not at all. */
async function decideOne(parts: DecisionParts, order: DecidedOrder): Promise<Decided> {
  const { journal, names, clock } = parts;
  const { account, clientOrderId = '', decision } = order;
  const key = await orderKey(names, { account, clientOrderId });
  const entry = (await journal.read([key])).get(key);
  if (!entry) throw refuse('The journal has no order of this id in this account.');
  const entries = [entry, ...(await othersOf(entry, parts))];
  for (const one of entries) assertUndecided(one, decision, clock());
  const saw = decision === 'no_effect' ? await lookUp(parts, entry, account, clientOrderId) : undefined;
  let isReleased = true;
  for (const one of entries) isReleased = (await write(parts, one, order)) && isReleased;
  return { isReleased, ...(saw && { saw }) };
}

/** @throws DecisionRefused for an order that evidence has decided, or may decide yet */
function assertUndecided(entry: JournalEntry, decision: Decision, now: number): void {
  const { outcome } = readRecord(entry.record);
  const isOperators = outcome?.evidence === 'operator' || (outcome?.ended && decision === 'accepted');
  if (isKnown(entry) && !isOperators)
    throw refuse(`The order is ${entry.state}: what is known is not decided.`);
  if (isKnown(entry) || isOver(entry, now - undecidedAfterMs)) return;
  const at = new Date(entry.sendBy + undecidedAfterMs).toISOString();
  throw refuse(`Evidence may still decide: an operator may about a minute after ${at}.`);
}

const isKnown = ({ state }: JournalEntry): boolean => state === 'accepted' || state === 'refused';

/** @returns false when the counters could not be changed */
async function write(parts: DecisionParts, entry: JournalEntry, order: DecidedOrder): Promise<boolean> {
  const { key, attempt } = entry;
  const state = order.decision === 'accepted' ? 'accepted' : 'refused';
  const record = recordOf(entry, order, parts);
  const over = isKnown(entry) && ({ over: 'unseen' } as const);
  if (!(await parts.journal.finish({ key, attempt, state, record, ...over })))
    throw refuse('Evidence was faster: ask for the outcome.');
  if (state === 'refused') return releaseExposure({ ...entry, state }, parts);
  // An earlier decision took the order out of the counters.
  await recountKept(entry, parts);
  return true;
}

/** @throws DecisionRefused when the upstream shows what became of the order */
async function lookUp(
  parts: DecisionParts,
  entry: JournalEntry,
  account: string,
  clientOrderId: string,
): Promise<string> {
  const { orders, journal } = parts;
  const found = await orders.order(account, clientOrderId).catch(couldNotRead);
  if (typeof found === 'string') return found === 'not_found' ? 'The upstream does not show it.' : found;
  const sight = { by: 'look_up', found } as const;
  const settled = await settleSeen(entry, sight, (outcome) => journal.finish(outcome), parts);
  const shows = `The upstream shows an order of this id, ${found.state.status}`;
  if (settled) throw refuse(`${shows}: by that, this order is ${settled.state}.`);
  return `${shows}, which may be another one.`;
}

/** Takes orders whose end no read shows out of the counters, such as those of an account that the app key has lost. */
async function endOrders(parts: DecisionParts, order: DecidedOrder): Promise<Decided> {
  const { journal, orders, clock } = parts;
  const { account, clientOrderId } = order;
  const counted = (await journal.exposed('-', maxEntries))
    .flatMap((entry) => countedIn(entry) ?? [])
    .filter((one) => one.account === account)
    .filter(({ ids }) => clientOrderId === undefined || ids.includes(clientOrderId));
  if (counted.length === 0) throw refuse('Limits count nothing of it.');
  const placed = counted.filter(({ entry }) => mayHaveEnded(entry, clock()));
  if (placed.length === 0) throw refuse('It is not known yet whether it was placed: decide that first.');
  const ids = new Set(placed.flatMap((one) => one.ids));
  const listed = await orders.openOrders(account).catch(couldNotRead);
  const isRead = typeof listed !== 'string';
  if (isRead && listed.some(({ state }) => !isFinal(state) && ids.has(state.clientOrderId)))
    throw refuse('The upstream shows an order as open that would end: name others, or cancel it.');
  const saw = isRead ? 'The account’s list of open orders does not show it.' : listed;
  let [ended, isReleased] = [0, true];
  for (const { entry } of placed) {
    const { key, attempt } = entry;
    const isAccepted = entry.state === 'accepted' && ({ state: 'accepted', over: 'accepted' } as const);
    const became = isAccepted || ({ state: 'unknown' } as const);
    if (!(await journal.finish({ key, attempt, ...became, record: recordOf(entry, order, parts) }))) continue;
    ended++;
    isReleased = (await releaseExposure(entry, parts)) && isReleased;
  }
  return { isReleased, ended, saw };
}

const couldNotRead = (error: Error) => `The upstream could not be asked about it (${error.message}).`;

/** The record with the decision. `ended`, and taking it back, keep the evidence that the record has. */
function recordOf(
  { record: text, exposure: counted }: JournalEntry,
  { decision, reason }: DecidedOrder,
  { by, clock }: DecisionParts,
): string {
  const record = readRecord(text);
  const { client_order_id } = record;
  const { ended, ...outcome } = record.outcome ?? {};
  const exposure = counted ?? record.outcome?.exposure;
  const said = {
    ...(ended || decision === 'ended' ? outcome : { evidence: 'operator' as const }),
    by,
    reason,
    ...(decision === 'accepted' && !ended && { answer: JSON.stringify({ client_order_id }) }),
    ...(decision === 'ended' && { ended: true as const }),
    // The exposure is counted again if the order shows after all.
    ...(exposure !== undefined && { exposure }),
  };
  return JSON.stringify(withOutcome(record, clock(), said));
}

const refuse = (message: string) => new DecisionRefused('decision_refused', message);
