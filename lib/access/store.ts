/**
 * Port: store of the operators' grants, blocks and bindings, and of their audit. The store sees only sealed bytes under
 * keyed names.
 */

import { newest, type SealedLine } from './sealed-lines.ts';

export interface AccessEntry {
  readonly key: string;
  /** Differs after each write, also after the entry was removed. */
  readonly revision: string;
  readonly sealed: Uint8Array;
  /** In milliseconds since the epoch. From then on the store may drop the entry; its reader checks the time itself. */
  readonly expiresAt?: number;
}

export type AuditEntry = SealedLine;

export interface AccessWrite {
  readonly key: string;
  /** Revision of the entry that was read; undefined when there was none. */
  readonly expected: string | undefined;
  /** Undefined removes the entry. */
  readonly next: Omit<AccessEntry, 'key'> | undefined;
  /** Written in the same transaction. */
  readonly audit: AuditEntry;
}

/** Each method rejects when the store fails or takes too long. A read sees every write that was answered before. */
export interface AccessStore {
  /** Reads the entries that exist, by key. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, AccessEntry>>;
  /** Writes entry and audit together, or neither: false when the entry is no longer as expected. */
  write(change: AccessWrite): Promise<boolean>;
  /** Every entry, in no order. */
  list(): Promise<readonly AccessEntry[]>;
  /** The newest lines first. */
  audit(limit: number): Promise<readonly AuditEntry[]>;
}

/**
 * Creates a store for one process: the local run, and tests.
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
