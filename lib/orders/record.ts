/** The record in an entry of the journal: who requested what, and how its outcome is known. */

/** Sealed in a store, because it names account and order. Members of an order have the interface's names. */
export interface OrderRecord {
  /** The operation's id in the catalogue. */
  readonly operation: string;
  /** How the order shows that the request was executed: it was placed, cancelled or replaced. */
  readonly kind: RecordKind;
  readonly account_id?: string;
  readonly client_order_id?: string;
  /** The request: its body, or for a batch the order's part of it. */
  readonly asked: string;
  /** Name of the member that lists the orders, where `asked` is a whole body that places orders. */
  readonly list?: string;
  readonly request_id: string;
  /** Keyed names of user and app, as in the gateway's log. */
  readonly user?: string;
  readonly app?: string;
  readonly begun_at: string;
  /** Another program placed the order. The entry exists because a request that replaces the order is counted. */
  readonly placed_elsewhere?: true;
  /** The upstream shows the order, and neither the restored journal nor the audit shows who sent it. */
  readonly seen_after_restore?: true;
  /** A look-up that did not find an order whose outcome is unknown. A single one is no evidence. */
  readonly absent?: Absence;
  /** Pre-trade checks that the request failed, blocking or notifying. */
  readonly failed_checks?: readonly string[];
  readonly outcome?: RecordedOutcome;
}

/** How an order shows a request; no order shows one of kind `other`. */
export type RecordKind = 'placement' | 'cancellation' | 'replacement' | 'other';

/**
 * How an outcome is known: from the upstream's answer; because nothing was sent; from a look-up of the order or a list of
 * open orders; because look-ups found nothing for long enough; from an operator's decision.
 */
export type Evidence = 'answer' | 'not_sent' | 'look_up' | 'list' | 'absence' | 'operator';

interface Absence {
  readonly at: string;
  readonly proof: AbsenceProof;
}

/** Evidence that the look-up worked: it found another order of the account, or the account had none. */
export type AbsenceProof = 'other_order' | 'no_other_order';

export interface RecordedOutcome {
  /** Absent while the outcome is unknown. */
  readonly evidence?: Evidence;
  readonly at: string;
  /** The answer to an accepted request, byte for byte; for a batch, the order's part of it. */
  readonly answer?: string;
  /** Codes of the gateway and of the upstream, for a refused request or one with an unknown outcome. */
  readonly code?: string;
  readonly upstream_code?: string;
  /** Operator who decided the outcome, and the reason. */
  readonly by?: string;
  readonly reason?: string;
  /** Exposure of an order that look-ups did not find: counted again if the order shows after all. */
  readonly exposure?: string;
  /** An operator took the order out of the counters, because no read shows its end. */
  readonly ended?: true;
  /** The order cannot be open any more, so that no list is compared with it. */
  readonly unwatched?: true;
}

/** @throws TypeError for a text that is no record */
export function readRecord(text: string): OrderRecord {
  const record = JSON.parse(text) as Partial<OrderRecord> | null;
  if (typeof record?.operation !== 'string')
    throw new TypeError('an entry of the journal without an operation');
  return record as OrderRecord;
}

/**
 * Whether an outcome rests on look-ups that found nothing, or on an operator's decision. If the upstream shows the order,
 * that outweighs both.
 *
 * @param record JSON; empty where it could not be read
 */
export function isUnseen(record: string): boolean {
  const { evidence, ended } = outcomeIn(record) ?? {};
  return evidence === 'absence' || evidence === 'operator' || ended === true;
}

/** Whether lists of open orders are still compared with the settled entry. */
export const isWatched = (record: string): boolean => isUnseen(record) && !outcomeIn(record)?.unwatched;

const outcomeIn = (record: string): RecordedOutcome | undefined =>
  (JSON.parse(record || '{}') as Partial<OrderRecord>).outcome;

/** @param at in milliseconds since the epoch */
export const withOutcome = (
  record: OrderRecord,
  at: number,
  outcome: Omit<RecordedOutcome, 'at'>,
): OrderRecord => ({ ...record, outcome: { ...outcome, at: new Date(at).toISOString() } });
