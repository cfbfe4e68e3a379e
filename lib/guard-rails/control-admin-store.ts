/**
 * Port: what operators have set of trading, and the history of it. Functions read limits and stops without the identity
 * key, so these are in clear. Whom they are about, who set them and why is sealed, under keyed names.
 */

import type { SealedLine } from '../access/sealed-lines.ts';
import type { Control, ControlStore } from './controls.ts';
import type { LimitChanges } from './limits.ts';
import type { MassCancel } from './mass-cancels.ts';

/** What is set of one scope. It stays for ever, so that versions go on. */
export interface ControlEntry extends Omit<Control, 'limits'> {
  readonly key: string;
  /** Of the gateway's scope with null, where the deployment's own limit is not to count. */
  readonly limits: LimitChanges;
  readonly sealed: Uint8Array;
}

export interface ControlWrite {
  /** The version that was read; 0 when there was none. */
  readonly expected: number;
  readonly next: ControlEntry;
  /** The limits stay what they are in the store, and are not written: who stops need not have the right to change them. */
  readonly keepsLimits?: boolean;
  /** Written in the same transaction. */
  readonly history: SealedLine;
  /** Written in the same transaction, in place of any other one of its scope. */
  readonly massCancel?: MassCancel;
}

/** Each method rejects when the store cannot tell, or takes too long. A read sees every write that was answered before. */
export interface ControlAdminStore extends ControlStore {
  /** Undefined where nothing was ever set. */
  find(key: string): Promise<ControlEntry | undefined>;
  /** All or nothing: false when the entry is no longer of the expected version. */
  write(change: ControlWrite): Promise<boolean>;
  /** Every entry, in no order. */
  list(): Promise<readonly ControlEntry[]>;
  /** The newest first. */
  history(limit: number): Promise<readonly SealedLine[]>;
}

/** As the guard takes it: it takes the nulls of the gateway's scope for what they are. */
export const controlOf = ({ version, limits, stopped }: Omit<ControlEntry, 'key' | 'sealed'>): Control => ({
  version,
  limits: limits as Control['limits'],
  ...(stopped && { stopped }),
});
