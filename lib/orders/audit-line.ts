/** The audit's line for one change of an entry: the states before and after, and the entry's record. */

import type { EntryState, JournalEntry } from './journal.ts';
import { type OrderRecord, readRecord } from './record.ts';

/** A change of an entry, as the journal's stream delivers it. */
export interface EntryChange {
  /** The stream's number of the change: the same at each delivery of the change. */
  readonly sequence: string;
  /** When the journal was written, in milliseconds since the epoch. */
  readonly at: number;
  /** Absent: the entry is new. */
  readonly before?: SeenEntry;
  /** Absent: the entry was removed. */
  readonly after?: SeenEntry;
  /** Whether the store removed the entry because it had expired. */
  readonly isExpiry?: boolean;
}

/** The members of an entry that the audit needs. */
export type SeenEntry = Pick<JournalEntry, 'key' | 'attempt' | 'state'> &
  Partial<KeptOfEntry> & {
    /** Absent when it was sealed with another identity key. */
    readonly record?: string;
  };

/** The rest of an entry, so that the journal can be restored from the audit's lines. */
export type KeptOfEntry = Omit<JournalEntry, 'key' | 'attempt' | 'state' | 'record'>;

export interface AuditLine {
  /** Id of the change: a change that is delivered twice gives one line. */
  readonly id: string;
  /** When the journal was written, in milliseconds since the epoch; a stream gives whole seconds. */
  readonly at: number;
  /** The stream's number of the change, digits only: a later change of an entry has a greater number. */
  readonly sequence: string;
  /** The entry's key. */
  readonly entry: string;
  /** The request that wrote the entry. */
  readonly attempt: string;
  /** Absent when the entry was new. */
  readonly before?: EntryState;
  readonly after: EntryState | 'removed';
  /** Names account and order, so stores seal it. Absent when the entry's record was sealed with another identity key. */
  readonly record?: OrderRecord;
  /** The rest of the entry after the change. Absent when the entry was removed. */
  readonly kept?: KeptOfEntry;
}

/**
 * @returns undefined for an entry that expired: that says nothing about an order
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

/** The entry after the change; undefined where the line lacks a part of it. */
export function entryOf({ entry: key, attempt, after, record, kept }: AuditLine): JournalEntry | undefined {
  if (after === 'removed' || !record || !kept) return undefined;
  return { key, attempt, state: after, record: JSON.stringify(record), ...kept };
}
