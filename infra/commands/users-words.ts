/** Describes records and lines of the audit for an operator. */

import type { AccessAuditLine, Listed } from '../../lib/access/admin.ts';
import type { GrantChange } from '../../lib/access/change.ts';
import { type AccessSubject, isPrincipal, subjectOf } from '../../lib/access/records.ts';

/** @param issuer the stage's; a user of another issuer is described with that issuer. Absent: no issuer is shown */
export function subjectWords(subject: AccessSubject, issuer?: string): string {
  if (!isPrincipal(subject)) return `${subject.kind} ${subject.id}`;
  switch (subject.kind) {
    case 'user':
      return `user ${subject.subject}${issuer === undefined || issuer === subject.issuer ? '' : ` of ${subject.issuer}`}`;
    case 'key':
      return `key ${subject.id}`;
    case 'iam':
      return `iam ${subject.arn}`;
    case 'source':
      return `source ${subject.name}`;
  }
}

/** Tells whether an operator means this record: by its name in logs, or by the user's subject, key, role or source. */
export function isCalled(text: string, { name, record }: Listed): boolean {
  const subject = subjectOf(record);
  return name === text || (isPrincipal(subject) && subjectWords(subject) === `${subject.kind} ${text}`);
}

const accountWords = (account: string) => (account === '*' ? 'every account' : `account ${account}`);

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
export const momentOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Describes a record: one line for the subject, and one for each fact about it. */
export function recordWords({ name, record, expiresAt }: Listed, issuer: string): readonly string[] {
  const head = subjectWords(subjectOf(record));
  if (!('principal' in record))
    return [head, `  blocked${expiresAt === undefined ? '' : ` until ${dayOf(expiresAt)}`}`];
  const { accounts, userData, standsFor, blocked, notBefore, principal } = record;
  return [
    head,
    ...(blocked ? ['  blocked'] : []),
    ...(principal.kind === 'user' ? [`  issuer: ${principal.issuer}`] : []),
    ...(standsFor ? [`  acts for ${subjectWords(standsFor, issuer)}, with that user’s rights`] : []),
    ...accounts.map(([account, scopes]) => `  ${accountWords(account)}: ${scopes.join(', ')}`),
    ...(userData.length > 0 ? [`  watchlists: ${userData.join(', ')}`] : []),
    ...(notBefore === undefined ? [] : [`  tokens issued before ${momentOf(1000 * notBefore)} are refused`]),
    `  name in logs: ${name}`,
  ];
}

/** Describes a change without its subject. */
function changeWords(change: GrantChange, issuer: string): string {
  switch (change.action) {
    case 'grant':
    case 'revoke': {
      const what = [...change.accounts.map(accountWords), ...(change.userData ? ['watchlists'] : [])];
      return `${what.join(', ')}: ${change.scopes.join(', ') || 'everything'}`;
    }
    case 'revoke-all':
      return 'everything';
    case 'bind':
      return `to ${subjectWords(change.user, issuer)}`;
    case 'block':
      return change.expiresAt === undefined ? '' : `until ${dayOf(change.expiresAt)}`;
    case 'sign-out':
      return `tokens before ${momentOf(1000 * change.notBefore)}`;
    default:
      return '';
  }
}

export function auditWords(line: AccessAuditLine, issuer: string): string {
  if (!('change' in line)) return `${line.at}  (sealed with another identity key)`;
  const { at, by, change } = line;
  const action = change.action === 'revoke-all' ? 'revoke' : change.action;
  return `${at}  ${by}  ${action} ${subjectWords(change.subject, issuer)} ${changeWords(change, issuer)}`.trimEnd();
}
