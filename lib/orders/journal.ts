/**
 * Port: the journal of requests with a side effect. An entry is written before its request is sent, on the condition that
 * its id is free, so that no two instances send the same order.
 */

import type { CounterChange, StoredCounter } from '../guard-rails/counter.ts';
import { clockSkewMs } from '../kernel/clock-skew.ts';
import { CountersignError } from '../signer/errors.ts';

/**
 * - `pending`: may be sent, or have been sent, until `sendBy`; after that it counts as unknown.
 * - `accepted`: the upstream took it. Final.
 * - `refused`: it had no effect. The id is free: another request may take the entry over.
 * - `unknown`: it was sent, and what became of it is not known.
 */
export type EntryState = 'pending' | 'accepted' | 'refused' | 'unknown';

/**
 * Unsettled entries are in two lists. A placement is settled by each look-up of its order, sooner or later; a cancellation
 * or a replacement that does not show may never be, and must not hold up the placements. `unseen` has those that an absence
 * or an operator's word has settled, for as long as their orders may show after all.
 */
export type UnsettledList = 'placements' | 'changes' | 'unseen';

export interface JournalEntry {
  /** The keyed name of account and id. */
  readonly key: string;
  /** The request that wrote it: no other one decides what became of it, except by evidence of the upstream. */
  readonly attempt: string;
  /** A keyed hash of what is asked for: a request of the same id with another one asks for something else. */
  readonly hash: string;
  readonly state: EntryState;
  /** The name in stores of the credential that sent it. The order is the account's, whichever credential that has next. */
  readonly credential: string;
  /** When the entry was written, in milliseconds since the epoch. */
  readonly at: number;
  /** Nothing of the attempt leaves the gateway later. */
  readonly sendBy: number;
  /** JSON, see `record.ts`. It holds account and order in clear: sealed in a store. */
  readonly record: string;
  /** Absent for what no evidence can settle, such as a change of a watchlist. */
  readonly listedAs?: Exclude<UnsettledList, 'unseen'>;
  /** When a store may forget the entry, in milliseconds since the epoch; absent: never. */
  readonly expiresAt?: number;
  /** What counters have of its order, see `exposure.ts`; absent where they have nothing of it. */
  readonly exposure?: string;
}

/** What is written beside an entry, in the same transaction. */
export interface CountedChanges {
  readonly counters: readonly CounterChange[];
  readonly exposures: readonly ExposureChange[];
}

/** Of an entry that was there before. */
export interface ExposureChange {
  readonly key: string;
  /** As read: another attempt of the same order may have the same exposure. */
  readonly attempt: string;
  /** As read. */
  readonly before: string | undefined;
  /** Of the entry, where the change is about that: what is refused may be found to be accepted meanwhile. */
  readonly state?: EntryState;
  /** Undefined when its order is not counted any more. */
  readonly next: string | undefined;
}

/** Something was not as it was read: as it is now. Nothing was written. */
export interface Stale {
  readonly counters: readonly StoredCounter[];
  /** Whether an exposure was another one, too. */
  readonly exposures: boolean;
}

/** What became of an entry. */
export interface EntryOutcome {
  readonly key: string;
  readonly attempt: string;
  readonly state: Exclude<EntryState, 'pending'>;
  readonly record: string;
  /** An operator's word replaces this one, too: an earlier word, or what was accepted. */
  readonly over?: 'unseen' | 'accepted';
}

export interface OrderJournal {
  /**
   * Writes all entries as they are, or none, in one transaction: each where its key is absent, expired or `refused`. An
   * entry of the same attempt, whose first answer was lost, is begun, and stays as it is: a write that is repeated or
   * late must not undo its outcome.
   *
   * A refused entry whose order is still counted is in the way: its exposure would be lost.
   *
   * @param now when a stored entry counts as expired, in milliseconds since the epoch
   * @returns `begun`, or the entries in the way; a read sees every entry that was begun before
   * @throws JournalUnavailable, also when it is not known whether they were written
   */
  begin(entries: readonly JournalEntry[], now: number): Promise<'begun' | readonly JournalEntry[]>;
  /**
   * Writes the outcome where the entry is still of its attempt, and `pending` or `unknown`; `accepted` also replaces
   * `refused`, because what the upstream accepted was not refused. What an absence or an operator's word has settled is
   * replaced by what the upstream says, either way.
   *
   * @returns false when the entry is another attempt's, or final already
   * @throws JournalUnavailable
   */
  finish(outcome: EntryOutcome): Promise<boolean>;
  /**
   * Whether what is not in it may have been: the table was restored to an earlier time, and is not up to date yet. Absent:
   * it never is.
   *
   * @throws JournalUnavailable
   */
  isRestored?(): Promise<boolean>;
  /** @throws JournalUnavailable */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, JournalEntry>>;
  /**
   * Entries of the list that evidence can settle, in the order of their keys: from that one on, and then from the first.
   * The list may lag behind. The record of one that was sealed with another identity key is empty.
   *
   * @throws JournalUnavailable
   */
  unsettled(list: UnsettledList, from: string, limit: number): Promise<readonly JournalEntry[]>;
}

/** A journal that keeps the counters of pre-trade checks, too: they change in the transactions that write entries. */
export interface CountingJournal extends OrderJournal {
  /**
   * Begins entries, and writes the changes with them: all or nothing. Entries of the same attempt are begun with their
   * changes.
   *
   * @returns what `begin` does, or what was not as it was read
   * @throws JournalUnavailable, also when it is not known whether they were written
   */
  beginCounted(
    entries: readonly JournalEntry[],
    now: number,
    changes: CountedChanges,
  ): Promise<'begun' | readonly JournalEntry[] | Stale>;
  /**
   * All changes, or none.
   *
   * @throws JournalUnavailable, also when it is not known whether they were written
   */
  change(changes: CountedChanges): Promise<'changed' | Stale>;
  /**
   * Those that are there, as they are now.
   *
   * @throws JournalUnavailable
   */
  counters(keys: readonly string[]): Promise<readonly StoredCounter[]>;
  /**
   * Entries with an exposure, in the same order. The list may lag behind. The record of one that was sealed with another
   * identity key is empty.
   *
   * @throws JournalUnavailable
   */
  exposed(from: string, limit: number): Promise<readonly JournalEntry[]>;
}

/** A journal that was restored to an earlier time, for the worker that brings it up to date. */
export interface RecoverableJournal {
  /**
   * Writes an entry as it was, in place of the one that was read. Counters stay as they are.
   *
   * @param read undefined where there was none
   * @returns false where attempt or state are not as they were read; nothing is written then
   * @throws JournalUnavailable
   */
  recover(entry: JournalEntry, read: JournalEntry | undefined): Promise<boolean>;
}

/** The journal is away, or it throttles. */
export class JournalUnavailable extends CountersignError<'journal_unavailable'> {
  override readonly name = 'JournalUnavailable';

  constructor(cause?: unknown) {
    super('journal_unavailable', 'the journal of orders cannot be reached', { cause });
  }
}

/** An attempt leaves within this time of its entry, also where the platform sets no bound. */
export const maxSendMs = 30_000;

/** Whether nothing of the attempt can leave any more. */
export const isOver = ({ sendBy }: Pick<JournalEntry, 'sendBy'>, now: number): boolean =>
  now > sendBy + clockSkewMs;

/**
 * How long after the last moment of sending a look-up that finds nothing says that nothing was placed. A request that is
 * still on its way then carries a timestamp of that age, and the upstream checks timestamps; an order that it has taken
 * is visible to a look-up by then. The interface states neither time, so this is ten minutes. (interface text,
 * "Authentication", names no tolerance)
 */
export const absenceCountsAfterMs = 10 * 60_000;
