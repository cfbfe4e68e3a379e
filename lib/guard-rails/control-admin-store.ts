/**
 * Port to the operators' controls of trading and their history. Functions read limits and stops without the identity key,
 * so these are in clear. Subject, operator and reason are sealed, under keyed names.
 */

import type { SealedLine } from '../access/sealed-lines.ts';
import type { Control, ControlStore } from './controls.ts';
import type { LimitChanges } from './limits.ts';
import type { MassCancel } from './mass-cancels.ts';

/** The stored control of one scope. It is never removed, so that versions continue. */
export interface ControlEntry extends Omit<Control, 'limits'> {
  readonly key: string;
  /** In the gateway's scope, null removes the deployment's own limit. */
  readonly limits: LimitChanges;
  readonly sealed: Uint8Array;
}

export interface ControlWrite {
  /** The version that was read; 0 when there was none. */
  readonly expected: number;
  readonly next: ControlEntry;
  /** Leaves the stored limits as they are: an operator who may stop trading need not have the right to change limits. */
  readonly keepsLimits?: boolean;
  /** Line of the history, written in the same transaction. */
  readonly history: SealedLine;
  /** Mass cancel, written in the same transaction in place of any other one of its scope. */
  readonly massCancel?: MassCancel;
}

/** Each method rejects when the store fails or takes too long. A read sees every write that was answered before. */
export interface ControlAdminStore extends ControlStore {
  /** The entry of a scope; undefined where nothing was ever set. */
  find(key: string): Promise<ControlEntry | undefined>;
  /** Writes all or nothing; returns false when the entry no longer has the expected version. */
  write(change: ControlWrite): Promise<boolean>;
  /** All entries, in no particular order. */
  list(): Promise<readonly ControlEntry[]>;
  /** Lines of the history, the newest first. */
  history(limit: number): Promise<readonly SealedLine[]>;
}

/** The entry's control for the guard, which understands the nulls of the gateway's scope. */
export const controlOf = ({ version, limits, stopped }: Omit<ControlEntry, 'key' | 'sealed'>): Control => ({
  version,
  limits: limits as Control['limits'],
  ...(stopped && { stopped }),
});
