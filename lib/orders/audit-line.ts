/** One line of the audit for each change of an entry: what it was, what it is, and what the entry says. */

import type { EntryState, JournalEntry } from './journal.ts';
import { type OrderRecord, readRecord } from './record.ts';

/** A change of an entry, as the journal's stream tells it. */
export interface EntryChange {
  /** The stream's number of the change: the same each time the change comes. */
  readonly sequence: string;
  /** When the journal was written, in milliseconds since the epoch. */
  readonly at: number;
  /** Absent: the entry is new. */
  readonly before?: SeenEntry;
  /** Absent: the entry was removed. */
  readonly after?: SeenEntry;
  /** The store removed the entry because its time was over. */
  readonly isExpiry?: boolean;
}

/** What the audit needs of an entry. */
export type SeenEntry = Pick<JournalEntry, 'key' | 'attempt' | 'state'> &
  Partial<KeptOfEntry> & {
    /** Absent: it was sealed with another identity key. */
    readonly record?: string;
  };

/** The rest of an entry, so that a line has all of which the journal can be made anew. */
export type KeptOfEntry = Omit<JournalEntry, 'key' | 'attempt' | 'state' | 'record'>;

export interface AuditLine {
  /** Of this change alone: a change that comes twice gives one line. */
  readonly id: string;
  /** When the journal was written, in milliseconds since the epoch; of a stream in whole seconds. */
  readonly at: number;
  /** The stream's number of the change, digits alone: a later change of an entry has a greater one. */
  readonly sequence: string;
  /** The entry's key. */
  readonly entry: string;
  /** The request that wrote the entry. */
  readonly attempt: string;
  /** Absent: the entry was new. */
  readonly before?: EntryState;
  readonly after: EntryState | 'removed';
  /** Names account and order: sealed in a store. Absent: it was sealed with another identity key. */
  readonly record?: OrderRecord;
  /** As the change left it. Absent where the entry was removed. */
  readonly kept?: KeptOfEntry;
}

/**
 * @returns undefined for an entry whose time is over: that says nothing of an order
 *
 * @example
 * auditLineOf({ sequence: '7', at: Date.now(), after: entry })?.after; // 'pending'
 */
export function auditLineOf({ sequence, at, before, after, isExpiry }: EntryChange): AuditLine | undefined {
  const shown = after ?? before;
  if (!shown || isExpiry) return undefined;
  const { key: entry, attempt, record } = shown;
  const state = after?.state ?? 'removed';
  return {
    id: [entry, attempt, state, sequence].join('#'),
    at,
    sequence,
    entry,
    attempt,
    ...(before && { before: before.state }),
    after: state,
    ...(record !== undefined && { record: readRecord(record) }),
    ...(after && keptIn(after)),
  };
}

function keptIn({ hash, credential, at, sendBy, listedAs, expiresAt, exposure }: SeenEntry) {
  if (hash === undefined || credential === undefined || at === undefined || sendBy === undefined) return {};
  const others = {
    ...(listedAs !== undefined && { listedAs }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(exposure !== undefined && { exposure }),
  };
  return { kept: { hash, credential, at, sendBy, ...others } };
}

/** The entry that the change left; undefined where the line does not have all of it. */
export function entryOf({ entry: key, attempt, after, record, kept }: AuditLine): JournalEntry | undefined {
  if (after === 'removed' || !record || !kept) return undefined;
  return { key, attempt, state: after, record: JSON.stringify(record), ...kept };
}
