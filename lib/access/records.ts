/** Content and key of an entry in the directory's store. */

import type { Scope } from '../catalogue/scopes.ts';
import { openJson, sealJson } from '../kernel/sealer.ts';
import type { KeyedNames } from './directory.ts';
import type { Principal } from './evidence.ts';
import { type Identity, nameOfPrincipal } from './identity.ts';
import type { AccessEntry } from './store.ts';

export type User = Extract<Principal, { readonly kind: 'user' }>;

export interface PrincipalRecord {
  readonly principal: Principal;
  /** Pairs of an account's id and its scopes; the id `*` stands for every account of the app key. */
  readonly accounts: readonly (readonly [account: string, scopes: readonly Scope[]])[];
  /** Scopes for data of the upstream's user that belongs to no account, such as watchlists. */
  readonly userData: readonly Scope[];
  /** User whose rights the principal has; it has none of its own. */
  readonly standsFor?: User;
  readonly blocked?: true;
  /** Unix time in seconds: tokens that were issued before are refused. */
  readonly notBefore?: number;
}

/** A refused token, by its id (`jti`), or a refused app, by its client id. */
export type BlockRecord =
  | { readonly token: string; readonly blocked: true }
  | { readonly app: string; readonly blocked: true };

export type AccessRecord = PrincipalRecord | BlockRecord;

/** Subject of a record: a principal, a token or an app. */
export type AccessSubject = Principal | { readonly kind: 'token' | 'app'; readonly id: string };

export const isPrincipal = (subject: AccessSubject): subject is Principal =>
  subject.kind !== 'token' && subject.kind !== 'app';

export const subjectOf = (record: AccessRecord): AccessSubject => {
  if ('principal' in record) return record.principal;
  return 'token' in record ? { kind: 'token', id: record.token } : { kind: 'app', id: record.app };
};

/** Makes an entry's key, which ends with the subject's name in logs. */
export const keyOfName = (kind: 'principal' | 'token' | 'app', name: string): string => `${kind}#${name}`;

export const keyOf = async (names: KeyedNames, subject: AccessSubject): Promise<string> =>
  isPrincipal(subject)
    ? keyOfName('principal', await nameOfPrincipal(names, subject))
    : keyOfName(subject.kind, await names.nameOf(subject.kind, subject.id));

/** Version of the records' format: an older version of this code must not misread a newer record's rights. */
const format = 1;

export const sealRecord = ({ sealer }: Identity, key: string, record: AccessRecord): Promise<Uint8Array> =>
  sealJson(sealer, { format, ...record }, key);

/** @throws Error for an entry that was sealed with another key, or written in another format */
export async function openRecord({ sealer }: Identity, { key, sealed }: AccessEntry): Promise<AccessRecord> {
  const opened = await openJson<AccessRecord & { readonly format: number }>(sealer, sealed, key);
  if (!opened) throw new Error('a record of the directory does not open with this identity key');
  const { format: written, ...record } = opened;
  if (written !== format) throw new Error('a record of the directory is in a format that is unknown here');
  return record;
}
