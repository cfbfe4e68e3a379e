/** The entries and outcomes that one request writes into the journal. */

import type { Operation } from '../catalogue/operation.ts';
import type { Refusal } from '../problem.ts';
import type { EntryOutcome, JournalEntry } from './journal.ts';
import type { OrderPart, Submission } from './parts.ts';
import { type OrderRecord, type RecordedOutcome, type RecordKind, withOutcome } from './record.ts';

/** The result of pre-trade checks for an entry. */
export interface CheckedEntry {
  /** The order's part of the counters, see `exposure.ts`. */
  readonly exposure?: string;
  readonly failedChecks?: readonly string[];
  /** Code of the refusal, for an order that is not sent. */
  readonly refusedAs?: Refusal['code'];
}

/** How long entries under clients' idempotency keys are kept; entries of orders never expire. */
const keyLifeMs = 24 * 60 * 60_000;

export class OrderEntries {
  readonly sendBy: number;
  readonly #change: Submission;
  readonly #clock: () => number;
  readonly #attempt = crypto.randomUUID();
  readonly #begunAt: number;
  /** Results of the checks by entry key. */
  readonly #checked = new Map<string, CheckedEntry>();
  readonly #begun = new Map<string, JournalEntry>();

  /** @param sendBy in milliseconds since the epoch */
  constructor(change: Submission, sendBy: number, clock: () => number) {
    this.sendBy = sendBy;
    this.#change = change;
    this.#clock = clock;
    this.#begunAt = clock();
  }

  /** The entry of a part with the result of its checks. */
  checked(part: OrderPart, checked: CheckedEntry): JournalEntry {
    const { exposure, refusedAs } = checked;
    this.#checked.set(part.key, checked);
    const entry = { ...this.begin(part), ...(exposure !== undefined && { exposure }) };
    if (refusedAs === undefined) return entry;
    const { state, record } = this.outcome(part, 'refused', { evidence: 'not_sent', code: refusedAs });
    return { ...entry, state, record };
  }

  /** The entry of a part to write now. */
  begin(part: OrderPart): JournalEntry {
    const { operation, credential } = this.#change;
    const at = this.#clock();
    const kind = kindOf(operation);
    const entry: JournalEntry = {
      key: part.key,
      attempt: this.#attempt,
      hash: part.hash,
      state: 'pending',
      credential,
      at,
      sendBy: this.sendBy,
      record: JSON.stringify(this.#recordOf(part)),
      ...(kind !== 'other' &&
        part.account !== undefined &&
        part.clientOrderId !== undefined && { listedAs: kind === 'placement' ? 'placements' : 'changes' }),
      ...(kind !== 'placement' && { expiresAt: at + keyLifeMs }),
    };
    this.#begun.set(part.key, entry);
    return entry;
  }

  /** The entry as it was written; its time `at` is earlier than the order's time of placing. */
  begun(part: OrderPart): JournalEntry {
    return this.#begun.get(part.key) ?? this.begin(part);
  }

  outcome(part: OrderPart, state: EntryOutcome['state'], said: Omit<RecordedOutcome, 'at'>): EntryOutcome {
    const record = withOutcome(this.#recordOf(part), this.#clock(), said);
    return { key: part.key, attempt: this.#attempt, state, record: JSON.stringify(record) };
  }

  /** The exposure of an entry of this request; undefined where it is not counted. */
  exposureOf(key: string): string | undefined {
    return this.#checked.get(key)?.exposure;
  }

  #recordOf({ key, text, account, clientOrderId }: OrderPart): OrderRecord {
    const { operation, requestId, user, app } = this.#change;
    const { journal } = operation.sideEffect ?? {};
    const { failedChecks = [] } = this.#checked.get(key) ?? {};
    return {
      operation: operation.id,
      kind: kindOf(operation),
      ...(account !== undefined && { account_id: account }),
      ...(clientOrderId !== undefined && { client_order_id: clientOrderId }),
      asked: text,
      ...(journal?.by === 'client_order_id' && journal.answered === 'together' && { list: journal.list }),
      request_id: requestId,
      ...(user !== undefined && { user }),
      ...(app !== undefined && { app }),
      begun_at: new Date(this.#begunAt).toISOString(),
      ...(failedChecks.length > 0 && { failed_checks: failedChecks }),
    };
  }
}

function kindOf({ sideEffect }: Operation): RecordKind {
  const { journal, cancels } = sideEffect ?? {};
  if (cancels) return 'cancellation';
  if (journal?.by === 'client_order_id') return 'placement';
  return journal?.replaces ? 'replacement' : 'other';
}
