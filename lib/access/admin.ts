/** What operators do with the directory's store: change a record, with a line of the audit, and look at what is there. */

import { AccessChangeError, changed, type GrantChange } from './change.ts';
import type { Identity } from './identity.ts';
import { type AccessRecord, type AccessSubject, keyOf, openRecord, sealRecord } from './records.ts';
import { nonce, sealedLines } from './sealed-lines.ts';
import type { AccessEntry, AccessStore } from './store.ts';

export interface AccessAdminOptions {
  readonly store: AccessStore;
  readonly identity: Identity;
  /** Who changes it, for the audit: an operator's ARN, for example. */
  readonly by: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface AccessAdmin {
  /**
   * Writes nothing, and no line of the audit, when the record says so already. A concurrent change of the same record
   * is never lost: this one begins anew.
   *
   * @throws AccessChangeError `change_refused` when the change would not mean what it says, `changed_by_others` when
   * other operators changed the record each time
   */
  apply(change: GrantChange): Promise<Applied>;
  /** @returns undefined when nothing is recorded of it, or not any more */
  find(subject: AccessSubject): Promise<Listed | undefined>;
  list(): Promise<SealedListing>;
  /** The name that logs have. */
  nameOf(subject: AccessSubject): Promise<string>;
  /** The newest lines first. */
  audit(limit: number): Promise<readonly AccessAuditLine[]>;
}

export interface Applied {
  readonly isChanged: boolean;
  /** As it is now; undefined when nothing is recorded of the subject any more. */
  readonly record: AccessRecord | undefined;
  readonly expiresAt?: number;
}

export interface Listed {
  /** As in logs. */
  readonly name: string;
  readonly record: AccessRecord;
  readonly expiresAt?: number | undefined;
}

export interface SealedListing {
  readonly records: readonly Listed[];
  /** How many were sealed with another identity key, or are in another format. */
  readonly unreadable: number;
}

export type AccessAuditLine =
  | { readonly at: string; readonly by: string; readonly change: GrantChange }
  /** Sealed with another identity key. */
  | { readonly at: string };

/** How often a change begins anew because another one came between. */
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
      for (let left = maxTries; left > 0; left--) {
        const entry = (await store.read([key])).get(key);
        const there = entry && isThere(entry) ? entry : undefined;
        const before = there && (await openRecord(identity, there));
        const record = changed(before, change);
        const next = await nextOf(key, record, change, there);
        const isSame = textOf(before, entry) === textOf(record, next);
        const applied = { record, ...(next?.expiresAt !== undefined && { expiresAt: next.expiresAt }) };
        if (isSame) return { isChanged: false, ...applied };
        const audit = await lines.seal(clock(), { by, change });
        if (await store.write({ key, expected: entry?.revision, next, audit }))
          return { isChanged: true, ...applied };
      }
      throw new AccessChangeError('changed_by_others', 'others changed the same record each time');
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

/** A block is ended by `unblock` alone, not by another block that is shorter. */
const laterEnd = (
  { expiresAt }: Extract<GrantChange, { readonly action: 'block' }>,
  before: AccessEntry | undefined,
): number | undefined => {
  const ends = [expiresAt, before ? before.expiresAt : expiresAt];
  return ends.every((end) => end !== undefined) ? Math.max(...ends) : undefined;
};

/** What would be written, but for the revision and the seal, which differ each time. */
const textOf = (record: AccessRecord | undefined, entry: { readonly expiresAt?: number } | undefined) =>
  JSON.stringify(record && [Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)), entry?.expiresAt]);
