/**
 * An operator's word for an order that no evidence decides. It is written as evidence is, and weighs least: an order that
 * shows after all is accepted, and counts again. No function has this in its bundle.
 */

import type { KeyedNames } from '../access/directory.ts';
import { isReason } from '../guard-rails/control-changes.ts';
import { CountersignError } from '../signer/errors.ts';
import { type CountingJournal, isOver, type JournalEntry } from './journal.ts';
import { orderKey } from './parts.ts';
import { readRecord, withOutcome } from './record.ts';
import { releaseExposure } from './release-ended.ts';

/** `no_effect`: nothing was placed; the id is free, and counters have nothing of it any more. */
export type Decision = 'accepted' | 'no_effect';

export interface DecisionParts {
  readonly journal: CountingJournal;
  readonly names: KeyedNames;
  /** Who decides, for the audit: an operator's ARN, for example. */
  readonly by: string;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface DecidedOrder {
  readonly account: string;
  readonly clientOrderId: string;
  readonly decision: Decision;
  readonly reason: string;
}

/** Nothing was decided. The message is for the operator. */
export class DecisionRefused extends CountersignError<'decision_refused'> {
  override readonly name = 'DecisionRefused';
}

/** From the last moment of sending: evidence has had its time, and an alarm says that it decided nothing. */
export const undecidedAfterMs = 20 * 60_000;

/**
 * @returns false where `no_effect` is written, and counters could not be changed: the settlement does it in its next run
 * @throws DecisionRefused for an order that is not unknown for long enough, is known by now, or was not placed here
 *
 * @example
 * await decideOrder(parts, { account: '1234567', clientOrderId: 'a', decision: 'no_effect', reason: 'the desk says so' });
 */
export async function decideOrder(
  { journal, names, by, clock, sleep }: DecisionParts,
  { account, clientOrderId, decision, reason }: DecidedOrder,
): Promise<boolean> {
  if (!isReason(reason)) throw refuse('A reason has 1 to 500 visible characters.');
  const key = await orderKey(names, { account, clientOrderId });
  const entry = (await journal.read([key])).get(key);
  if (!entry) throw refuse('The journal has no order of this id in this account.');
  if (entry.state === 'accepted' || entry.state === 'refused')
    throw refuse(`The order is ${entry.state}: what is known is not decided.`);
  const now = clock();
  if (!isOver(entry, now - undecidedAfterMs)) {
    const at = new Date(entry.sendBy + undecidedAfterMs).toISOString();
    throw refuse(`Evidence may still decide: an operator may about a minute after ${at}.`);
  }
  const state = decision === 'accepted' ? 'accepted' : 'refused';
  const record = recordOf(entry, { state, by, reason, clientOrderId }, now);
  if (!(await journal.finish({ key, attempt: entry.attempt, state, record })))
    throw refuse('Evidence was faster: ask for the outcome.');
  if (state === 'accepted') return true;
  return releaseExposure({ ...entry, state }, { journal, sleep });
}

function recordOf(
  { record, exposure }: JournalEntry,
  { state, by, reason, clientOrderId }: Readonly<Record<'state' | 'by' | 'reason' | 'clientOrderId', string>>,
  now: number,
): string {
  const said = {
    evidence: 'operator',
    by,
    reason,
    ...(state === 'accepted' && { answer: JSON.stringify({ client_order_id: clientOrderId }) }),
    // Counted again when it shows after all.
    ...(exposure !== undefined && { exposure }),
  } as const;
  return JSON.stringify(withOutcome(readRecord(record), now, said));
}

const refuse = (message: string) => new DecisionRefused('decision_refused', message);
