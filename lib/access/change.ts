/** Changes that an operator may make, and their effect on a record. The audit stores the same value. */

import type { Scope } from '../catalogue/scopes.ts';
import { CountersignError } from '../signer/errors.ts';
import type { Principal } from './evidence.ts';
import {
  type AccessRecord,
  type AccessSubject,
  isPrincipal,
  type PrincipalRecord,
  type User,
} from './records.ts';

/** A change of rights was not made. */
export class AccessChangeError extends CountersignError<'change_refused' | 'changed_by_others'> {
  override readonly name = 'AccessChangeError';
}

export type GrantChange =
  | {
      /** `grant` adds scopes; `revoke` removes them, or all scopes if none is named. */
      readonly action: 'grant' | 'revoke';
      readonly subject: Principal;
      /** Account ids; `*` for every account of the app key. To revoke `*` revokes the accounts granted by name, too. */
      readonly accounts: readonly string[];
      /** Whether the change includes data of the upstream's user, such as watchlists. */
      readonly userData: boolean;
      readonly scopes: readonly Scope[];
    }
  | { readonly action: 'revoke-all'; readonly subject: Principal }
  | { readonly action: 'bind'; readonly subject: Principal; readonly user: User }
  | { readonly action: 'unbind'; readonly subject: Principal }
  | {
      readonly action: 'block';
      readonly subject: AccessSubject;
      /** When the blocked token expires anyway, in milliseconds since the epoch. */
      readonly expiresAt?: number;
    }
  | { readonly action: 'unblock'; readonly subject: AccessSubject }
  /** Refuses tokens that were issued before `notBefore`, Unix time in seconds. */
  | { readonly action: 'sign-out'; readonly subject: User; readonly notBefore: number };

/** Applies a change to a record. @throws AccessChangeError when the change cannot take effect as written */
export function applyChange(record: AccessRecord | undefined, change: GrantChange): AccessRecord | undefined {
  const { subject } = change;
  if (!isPrincipal(subject)) {
    if (change.action !== 'block') return undefined;
    return subject.kind === 'token'
      ? { token: subject.id, blocked: true }
      : { app: subject.id, blocked: true };
  }
  const before =
    record && 'principal' in record ? record : { principal: subject, accounts: [], userData: [] };
  const after = changedPrincipal(before, change);
  return isEmpty(after) ? undefined : after;
}

const refuse = (reason: string): never => {
  throw new AccessChangeError('change_refused', reason);
};

const isEmpty = ({ accounts, userData, standsFor, blocked, notBefore }: PrincipalRecord) =>
  accounts.length === 0 && userData.length === 0 && !standsFor && !blocked && notBefore === undefined;

function changedPrincipal(record: PrincipalRecord, change: GrantChange): PrincipalRecord {
  switch (change.action) {
    case 'grant':
      if (record.standsFor) refuse('It stands for a user: grant to that user, or unbind it first.');
      return withScopes(record, change, (has) => [...has, ...change.scopes]);
    case 'revoke': {
      const revoked = change.scopes.length > 0 ? change.scopes : undefined;
      const named = change.accounts.includes('*') ? record.accounts.map(([account]) => account) : [];
      const all = { ...change, accounts: [...change.accounts, ...named] };
      return withScopes(record, all, (has) => has.filter((one) => revoked && !revoked.includes(one)));
    }
    case 'revoke-all':
      return { ...record, accounts: [], userData: [] };
    case 'bind':
      if (record.principal.kind === 'user')
        refuse('A user stands for itself: only a key, a role or an event source is bound.');
      if (record.accounts.length > 0 || record.userData.length > 0)
        refuse('It has grants of its own: revoke them first, as a bound one has the user’s.');
      return { ...record, standsFor: change.user };
    case 'unbind': {
      const { standsFor: _, ...kept } = record;
      return kept;
    }
    case 'block':
      return { ...record, blocked: true };
    case 'unblock': {
      const { blocked: _, ...kept } = record;
      return kept;
    }
    case 'sign-out':
      return { ...record, notBefore: Math.max(record.notBefore ?? 0, change.notBefore) };
  }
}

type ScopeChange = Extract<GrantChange, { readonly action: 'grant' | 'revoke' }>;

function withScopes(
  record: PrincipalRecord,
  { accounts, userData }: ScopeChange,
  next: (has: readonly Scope[]) => readonly Scope[],
): PrincipalRecord {
  const all = new Map(record.accounts);
  for (const account of accounts) all.set(account, inOrder(next(all.get(account) ?? [])));
  return {
    ...record,
    accounts: [...all].filter(([, scopes]) => scopes.length > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
    userData: userData ? inOrder(next(record.userData)) : record.userData,
  };
}

const scopeOrder: Readonly<Record<Scope, number>> = { read: 0, trade: 1, write: 2 };

/** Sorts scopes and drops repeated ones, so that equal rights make equal records. */
const inOrder = (scopes: readonly Scope[]): readonly Scope[] =>
  [...new Set(scopes)].sort((a, b) => scopeOrder[a] - scopeOrder[b]);
