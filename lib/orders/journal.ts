/**
 * Port to the journal of requests with a side effect. An entry is written before its request is sent, and only if its id
 * is free, so that no two instances send the same order.
 */

import type { CounterChange, StoredCounter } from '../guard-rails/counter.ts';
import { clockSkewMs } from '../kernel/clock-skew.ts';
import { CountersignError } from '../signer/errors.ts';

/**
 * - `pending`: the request may be sent, or have been sent, until `sendBy`; after that it counts as unknown.
 * - `accepted`: the upstream accepted it. Final.
 * - `refused`: it had no effect. The id is free: another request may take the entry over.
 * - `unknown`: it was sent, and its outcome is not known.
 */
export type EntryState = 'pending' | 'accepted' | 'refused' | 'unknown';

/**
 * Unsettled entries are in two lists. Look-ups settle every placement sooner or later; they may never settle a cancellation
 * or a replacement, which must not delay the placements. `unseen` lists entries that an absence or an operator's decision
 * has settled, for as long as their orders may show after all.
 */
export type UnsettledList = 'placements' | 'changes' | 'unseen';

export interface JournalEntry {
  /** Keyed name of account and order id. */
  readonly key: string;
  /** Id of the request that wrote the entry: another one may decide its outcome only by evidence of the upstream. */
  readonly attempt: string;
  /** Keyed hash of the request: a request with the same id and another hash asks for something else. */
  readonly hash: string;
  readonly state: EntryState;
  /** Name in stores of the credential that signed the request. The order stays the account's under any later credential. */
  readonly credential: string;
  /** When the entry was written, in milliseconds since the epoch. */
  readonly at: number;
  /** Last moment at which the attempt may leave the gateway, in milliseconds since the epoch. */
  readonly sendBy: number;
  /** JSON of an `OrderRecord`. It names account and order in clear, so stores seal it. */
  readonly record: string;
  /** Absent for a request that no evidence can settle, such as a change of a watchlist. */
  readonly listedAs?: Exclude<UnsettledList, 'unseen'>;
  /** When a store may forget the entry, in milliseconds since the epoch; absent: never. */
  readonly expiresAt?: number;
  /** The order's part of the counters, see `exposure.ts`; absent while it is not counted. */
  readonly exposure?: string;
}

/** Changes of counters and exposures, written in the same transaction as an entry. */
export interface CountedChanges {
  readonly counters: readonly CounterChange[];
  readonly exposures: readonly ExposureChange[];
}

/** Change of an existing entry's exposure, made only if the entry is still as it was read. */
export interface ExposureChange {
  readonly key: string;
  /** The attempt that was read: another attempt of the same order may have the same exposure. */
  readonly attempt: string;
  /** The exposure that was read. */
  readonly before: string | undefined;
  /** The state that was read, where the change depends on it: a refused entry may become accepted meanwhile. */
  readonly state?: EntryState;
  /** Undefined when the order is not counted any more. */
  readonly next: string | undefined;
}

/** Nothing was written, because counters or exposures have changed since they were read. Contains the current counters. */
export interface Stale {
  readonly counters: readonly StoredCounter[];
  /** Whether an exposure has changed, too. */
  readonly exposures: boolean;
}

/** The outcome of an entry's request. */
export interface EntryOutcome {
  readonly key: string;
  readonly attempt: string;
  readonly state: Exclude<EntryState, 'pending'>;
  readonly record: string;
  /** Settled outcome that an operator's decision also replaces: an earlier decision or absence, or an acceptance. */
  readonly over?: 'unseen' | 'accepted';
}

export interface OrderJournal {
  /**
   * Writes all entries, or none, in one transaction. A key must be absent, expired or `refused`. An entry of the same
   * attempt, whose first write got no answer, counts as begun and stays as it is: a repeated or late write must not undo
   * its outcome.
   *
   * A refused entry whose order is still counted is in the way, because its exposure would be lost.
   *
   * @param now when a stored entry counts as expired, in milliseconds since the epoch
   * @returns `begun`, or the entries in the way; a read sees every entry that was begun before
   * @throws JournalUnavailable, also when it is unknown whether the entries were written
   */
  begin(entries: readonly JournalEntry[], now: number): Promise<'begun' | readonly JournalEntry[]>;
  /**
   * Writes the outcome if the entry is still of its attempt, and `pending` or `unknown`. `accepted` also replaces
   * `refused`, because an order that the upstream accepted was not refused. Evidence of the upstream, either way, replaces
   * an absence or an operator's decision.
   *
   * @returns false when the entry belongs to another attempt, or is final already
   * @throws JournalUnavailable
   */
  finish(outcome: EntryOutcome): Promise<boolean>;
  /**
   * Whether entries may be missing because the table was restored to an earlier time, and is not up to date yet. A journal
   * without this method is never restored.
   *
   * @throws JournalUnavailable
   */
  isRestored?(): Promise<boolean>;
  /** @throws JournalUnavailable */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, JournalEntry>>;
  /**
   * Entries of the list in the order of their keys, from the key `from` on, then from the first. The list may lag behind.
   * A record that was sealed with another identity key is empty.
   *
   * @throws JournalUnavailable
   */
  unsettled(list: UnsettledList, from: string, limit: number): Promise<readonly JournalEntry[]>;
}

/** A journal with the counters of pre-trade checks, which change in the transactions that write entries. */
export interface CountingJournal extends OrderJournal {
  /**
   * Begins entries and writes the changes with them: all or nothing. If all entries are of the same attempt already, the
   * changes have been written with them.
   *
   * @returns the result of `begin`, or `Stale` when something has changed since it was read
   * @throws JournalUnavailable, also when it is unknown whether they were written
   */
  beginCounted(
    entries: readonly JournalEntry[],
    now: number,
    changes: CountedChanges,
  ): Promise<'begun' | readonly JournalEntry[] | Stale>;
  /**
   * Writes all changes, or none.
   *
   * @throws JournalUnavailable, also when it is unknown whether they were written
   */
  change(changes: CountedChanges): Promise<'changed' | Stale>;
  /**
   * The counters that exist, as they are now.
   *
   * @throws JournalUnavailable
   */
  counters(keys: readonly string[]): Promise<readonly StoredCounter[]>;
  /**
   * Entries with an exposure, in the order of `unsettled`. The list may lag behind. A record that was sealed with another
   * identity key is empty.
   *
   * @throws JournalUnavailable
   */
  exposed(from: string, limit: number): Promise<readonly JournalEntry[]>;
}

/** A journal that was restored to an earlier time, for the worker that brings it up to date. */
export interface RecoverableJournal {
  /**
   * Writes an entry of the audit in place of the one that was read. Counters stay as they are.
   *
   * @param read the stored entry; undefined where there was none
   * @returns false, and writes nothing, when the stored attempt or state has changed since it was read
   * @throws JournalUnavailable
   */
  recover(entry: JournalEntry, read: JournalEntry | undefined): Promise<boolean>;
}

/** Thrown when the journal cannot be reached, or throttles. */
export class JournalUnavailable extends CountersignError<'journal_unavailable'> {
  override readonly name = 'JournalUnavailable';

  constructor(cause?: unknown) {
    super('journal_unavailable', 'the journal of orders cannot be reached', { cause });
  }
}

/** Longest time from an entry to the departure of its attempt, also where the platform sets no bound. */
export const maxSendMs = 30_000;

/** Whether nothing of the attempt can leave any more. */
export const isOver = ({ sendBy }: Pick<JournalEntry, 'sendBy'>, now: number): boolean =>
  now > sendBy + clockSkewMs;

/**
 * How long after the last moment of sending a look-up that finds nothing counts as evidence that nothing was placed. The
 * upstream refuses a request that is still on its way by then, because of its old timestamp, and shows an order that it
 * has accepted. The interface states neither time, so this is ten minutes. (interface text,
 * "Authentication", names no tolerance)
 */
export const absenceCountsAfterMs = 10 * 60_000;
