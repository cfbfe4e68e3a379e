/** What an entry of the journal says in words: who asked for what, and how it is known what became of it. */

/** All of it is sealed in a store, because it names account and order. Members are named as the interface names them. */
export interface OrderRecord {
  /** The operation's id in the catalogue. */
  readonly operation: string;
  /** What shows at the order that the request was executed. */
  readonly kind: RecordKind;
  readonly account_id?: string;
  readonly client_order_id?: string;
  /** What was asked for: the body, or of a batch the order's part of it. */
  readonly asked: string;
  /** Where that is a whole body that places orders: its member that has them. */
  readonly list?: string;
  readonly request_id: string;
  /** Keyed names, as the gateway's log has them. */
  readonly user?: string;
  readonly app?: string;
  readonly begun_at: string;
  /** Another program placed the order. The entry is here because a request that replaces it is counted. */
  readonly placed_elsewhere?: true;
  /** The upstream shows the order, and neither the journal that was restored nor the audit knows who sent it. */
  readonly seen_after_restore?: true;
  /** A look-up that found nothing, of an order whose outcome is not known. One is no evidence. */
  readonly absent?: Absence;
  /** Pre-trade checks that the request failed: those for which it was blocked, or that were to notify only. */
  readonly failed_checks?: readonly string[];
  readonly outcome?: RecordedOutcome;
}

/** Of `other` no order shows it. */
export type RecordKind = 'placement' | 'cancellation' | 'replacement' | 'other';

/**
 * How an outcome is known: from the upstream's answer; because nothing was sent; by a look-up of the order, or a list of
 * open orders; because look-ups found nothing for long enough; because an operator says so.
 */
export type Evidence = 'answer' | 'not_sent' | 'look_up' | 'list' | 'absence' | 'operator';

export interface Absence {
  readonly at: string;
  readonly proof: AbsenceProof;
}

/** Whether the same look-up found another order of the account at that time, or the account had none. */
export type AbsenceProof = 'other_order' | 'no_other_order';

export interface RecordedOutcome {
  /** Absent while it is not known. */
  readonly evidence?: Evidence;
  readonly at: string;
  /** Of what was accepted: the answer, byte for byte, or of a batch the order's part of it. */
  readonly answer?: string;
  /** Of what was refused or is unknown: the gateway's code, and the upstream's. */
  readonly code?: string;
  readonly upstream_code?: string;
  /** Of an operator's word: who gave it, and why. */
  readonly by?: string;
  readonly reason?: string;
  /** What was counted of an order that look-ups did not find: counted again when it shows after all. */
  readonly exposure?: string;
  /** An operator ended what counters had of it, because no read shows its end. */
  readonly ended?: true;
  /** The order cannot be open any more, so that no list is compared with it. */
  readonly unwatched?: true;
}

/** @throws TypeError for what is no record */
export function readRecord(text: string): OrderRecord {
  const record = JSON.parse(text) as Partial<OrderRecord> | null;
  if (typeof record?.operation !== 'string')
    throw new TypeError('an entry of the journal without an operation');
  return record as OrderRecord;
}

/**
 * Whether an outcome rests on look-ups that found nothing, or on an operator's word: what the upstream shows outweighs it.
 *
 * @param record JSON; empty where it could not be read
 */
export function isUnseen(record: string): boolean {
  const { evidence, ended } = outcomeIn(record) ?? {};
  return evidence === 'absence' || evidence === 'operator' || ended === true;
}

/** Whether lists of open orders are compared with an entry that is settled. */
export const isWatched = (record: string): boolean => isUnseen(record) && !outcomeIn(record)?.unwatched;

const outcomeIn = (record: string): RecordedOutcome | undefined =>
  (JSON.parse(record || '{}') as Partial<OrderRecord>).outcome;

/** @param at in milliseconds since the epoch */
export const withOutcome = (
  record: OrderRecord,
  at: number,
  outcome: Omit<RecordedOutcome, 'at'>,
): OrderRecord => ({ ...record, outcome: { ...outcome, at: new Date(at).toISOString() } });
