/**
 * Port: what operators have granted, blocked and bound, and the audit of it. The store sees sealed bytes under keyed
 * names alone.
 */

import { newest, type SealedLine } from './sealed-lines.ts';

export interface AccessEntry {
  readonly key: string;
  /** Another one with each write, also after the entry was removed. */
  readonly revision: string;
  readonly sealed: Uint8Array;
  /** In milliseconds since the epoch. From then on the store may drop it; its reader checks the time by itself. */
  readonly expiresAt?: number;
}

export type AuditEntry = SealedLine;

export interface AccessWrite {
  readonly key: string;
  /** The revision of the entry that was read; undefined when there was none. */
  readonly expected: string | undefined;
  /** Undefined removes the entry. */
  readonly next: Omit<AccessEntry, 'key'> | undefined;
  /** Written in the same transaction. */
  readonly audit: AuditEntry;
}

/** Each method rejects when the store cannot tell, or takes too long. A read sees every write that was answered before. */
export interface AccessStore {
  /** The entries that there are, by key. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, AccessEntry>>;
  /** All or nothing: false when the entry is no longer as expected. */
  write(change: AccessWrite): Promise<boolean>;
  /** Every entry, in no order. */
  list(): Promise<readonly AccessEntry[]>;
  /** The newest lines first. */
  audit(limit: number): Promise<readonly AuditEntry[]>;
}

/**
 * For one process: the local run, and tests.
 *
 * @example
 * const directory = createDirectory({ store: createMemoryAccessStore(), identity });
 */
export function createMemoryAccessStore(): AccessStore {
  const entries = new Map<string, AccessEntry>();
  const lines: AuditEntry[] = [];
  return {
    async read(keys) {
      const there = keys.flatMap((key) => entries.get(key) ?? []);
      return new Map(there.map((entry) => [entry.key, entry]));
    },
    async write({ key, expected, next, audit }) {
      if (entries.get(key)?.revision !== expected) return false;
      if (next) entries.set(key, { key, ...next });
      else entries.delete(key);
      lines.push(audit);
      return true;
    },
    list: async () => [...entries.values()],
    audit: async (limit) => newest(lines, limit),
  };
}
