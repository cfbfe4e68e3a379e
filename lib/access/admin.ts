/** The operators' side of the directory's store: changes records, writes a line of the audit for each, and lists them. */

import { compareAndSet } from '../kernel/pauses.ts';
import { AccessChangeError, applyChange, type GrantChange } from './change.ts';
import type { Identity } from './identity.ts';
import { type AccessRecord, type AccessSubject, keyOf, openRecord, sealRecord } from './records.ts';
import { nonce, sealedLines } from './sealed-lines.ts';
import type { AccessEntry, AccessStore } from './store.ts';

export interface AccessAdminOptions {
  readonly store: AccessStore;
  readonly identity: Identity;
  /** Name of the operator in the audit, an ARN for example. */
  readonly by: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface AccessAdmin {
  /**
   * Changes a record. If the record is already so, nothing is written, not even a line of the audit. A concurrent change
   * of the same record is never lost: this one starts again from the new record.
   *
   * @throws AccessChangeError `change_refused` when the change cannot take effect as written, `changed_by_others` when
   * other operators changed the record each time
   */
  apply(change: GrantChange): Promise<Applied>;
  /** @returns undefined when the subject has no record, or none any more */
  find(subject: AccessSubject): Promise<Listed | undefined>;
  list(): Promise<SealedListing>;
  /** The subject's name in logs. */
  nameOf(subject: AccessSubject): Promise<string>;
  /** The newest lines first. */
  audit(limit: number): Promise<readonly AccessAuditLine[]>;
}

export interface Applied {
  readonly isChanged: boolean;
  /** The record after the change; undefined when the subject has none any more. */
  readonly record: AccessRecord | undefined;
  readonly expiresAt?: number;
}

export interface Listed {
  /** The subject's name in logs. */
  readonly name: string;
  readonly record: AccessRecord;
  readonly expiresAt?: number | undefined;
}

export interface SealedListing {
  readonly records: readonly Listed[];
  /** Number of records that were sealed with another identity key, or have another format. */
  readonly unreadable: number;
}

export type AccessAuditLine =
  | { readonly at: string; readonly by: string; readonly change: GrantChange }
  /** A line that was sealed with another identity key. */
  | { readonly at: string };

/** Attempts of a change when others keep changing the same record. */
const maxTries = 8;

/**
 * @example
 * const admin = createAccessAdmin({ store, identity, by: 'local run' });
 * const subject = { kind: 'key', id: 'a1b2c3' } as const;
 * await admin.apply({ action: 'grant', subject, accounts: ['1234567'], userData: false, scopes: ['read'] });
 */
export function createAccessAdmin({
  store,
  identity,
  by,
  clock = Date.now,
}: AccessAdminOptions): AccessAdmin {
  const { names } = identity;
  const lines = sealedLines(identity, 'audit#');

  async function nextOf(
    key: string,
    record: AccessRecord | undefined,
    change: GrantChange,
    entry: AccessEntry | undefined,
  ) {
    if (!record) return undefined;
    const expiresAt = change.action === 'block' ? laterEnd(change, entry) : undefined;
    return {
      revision: nonce(),
      sealed: await sealRecord(identity, key, record),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }

  const nameIn = (key: string) => key.slice(key.indexOf('#') + 1);
  const isThere = ({ expiresAt = Number.POSITIVE_INFINITY }: AccessEntry) => expiresAt > clock();
  const listed = ({ key, expiresAt }: AccessEntry, record: AccessRecord): Listed => ({
    name: nameIn(key),
    record,
    expiresAt,
  });

  return {
    async apply(change) {
      const key = await keyOf(names, change.subject);
      const result = await compareAndSet(maxTries, async () => {
        const entry = (await store.read([key])).get(key);
        const there = entry && isThere(entry) ? entry : undefined;
        const before = there && (await openRecord(identity, there));
        const record = applyChange(before, change);
        const next = await nextOf(key, record, change, there);
        const isSame = textOf(before, entry) === textOf(record, next);
        const applied = { record, ...(next?.expiresAt !== undefined && { expiresAt: next.expiresAt }) };
        if (isSame) return { isChanged: false, ...applied };
        const audit = await lines.seal(clock(), { by, change });
        const isWritten = await store.write({ key, expected: entry?.revision, next, audit });
        return isWritten ? { isChanged: true, ...applied } : undefined;
      });
      if (!result)
        throw new AccessChangeError('changed_by_others', 'others changed the same record each time');
      return result;
    },
    async find(subject) {
      const key = await keyOf(names, subject);
      const entry = (await store.read([key])).get(key);
      return entry && isThere(entry) ? listed(entry, await openRecord(identity, entry)) : undefined;
    },
    async list() {
      const entries = (await store.list()).filter(isThere);
      const opened = await Promise.allSettled(
        entries.map(async (entry) => listed(entry, await openRecord(identity, entry))),
      );
      const records = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      return { records, unreadable: entries.length - records.length };
    },
    nameOf: async (subject) => nameIn(await keyOf(names, subject)),
    async audit(limit) {
      return Promise.all((await store.audit(limit)).map((line) => lines.open<AccessAuditLine>(line)));
    },
  };
}

/** The later end of two blocks: a shorter block must not end a longer one. Undefined when one of them has no end. */
const laterEnd = (
  { expiresAt }: Extract<GrantChange, { readonly action: 'block' }>,
  before: AccessEntry | undefined,
): number | undefined => {
  const ends = [expiresAt, before ? before.expiresAt : expiresAt];
  return ends.every((end) => end !== undefined) ? Math.max(...ends) : undefined;
};

/** Content of an entry, for comparison: without the revision and the seal, which differ each time. */
const textOf = (record: AccessRecord | undefined, entry: { readonly expiresAt?: number } | undefined) =>
  JSON.stringify(record && [Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)), entry?.expiresAt]);
