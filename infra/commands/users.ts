/**
 * `countersign users`: who may see and trade on which account. It writes the directory's table, each change with a line of
 * the audit, and reads the identity key, so that an operator sees people and accounts where the table holds sealed bytes.
 */

import type { AccessAdmin, Listed } from '../../lib/access/admin.ts';
import type { Change } from '../../lib/access/change.ts';
import { isPrincipal, type Subject, subjectOf, type User } from '../../lib/access/records.ts';
import type { Scope } from '../../lib/catalogue/scopes.ts';
import { StartError } from '../environment.ts';
import { keyOutput } from '../stack/outputs.ts';
import { operatorArn } from './operator.ts';
import type { Target } from './readers.ts';
import { accessTableOutput, asStartError, issuerOutput, sealedStack } from './sealed-stack.ts';
import { auditWords, recordWords, subjectWords } from './users-words.ts';

/** Whom or what a command is about. */
export type Who =
  | { readonly kind: 'user'; readonly subject: string }
  /** An API key: its id, or the names of its plan and key. */
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'key'; readonly plan: string; readonly key: string }
  | { readonly kind: 'iam'; readonly arn: string }
  | { readonly kind: 'source'; readonly name: string }
  | { readonly kind: 'token' | 'app'; readonly id: string }
  /** The keyed name of a log line. */
  | { readonly kind: 'name'; readonly name: string };

export type Verb =
  | 'grant'
  | 'revoke'
  | 'bind'
  | 'unbind'
  | 'block'
  | 'unblock'
  | 'sign-out'
  | 'show'
  | 'list'
  | 'audit';

export interface UsersArguments {
  readonly target: Target;
  readonly verb: Verb;
  /** Absent for `list` and `audit`. */
  readonly who?: Who;
  /** The subject that a key, a role or a source is bound to. */
  readonly user?: string;
  /** `*` for all. */
  readonly accounts: readonly string[];
  readonly userData: boolean;
  /** Undefined: not given. */
  readonly scopes?: readonly Scope[];
  /** How long a token stays blocked. */
  readonly days: number;
  readonly limit: number;
  readonly json: boolean;
}

export interface UsersPorts {
  readonly stackName: string;
  /** The stack's outputs by name. */
  readonly outputs: ReadonlyMap<string, string>;
  readonly admin: AccessAdmin;
  /** Now, in milliseconds since the epoch. */
  clock(): number;
  /** One line for the operator. */
  say(line: string): void;
}

const looks: ReadonlySet<Verb> = new Set<Verb>(['list', 'show', 'audit']);

/** @throws StartError when the stack, its identity key, or the operator's identity cannot be read */
export async function deployedUsers({ target, verb }: UsersArguments): Promise<UsersPorts> {
  const { stackName, outputs, directory, say } = await sealedStack(
    target,
    accessTableOutput,
    'knows no users: open a group of account data',
  );
  return {
    stackName,
    outputs,
    admin: directory(looks.has(verb) ? '' : await operatorArn()),
    clock: Date.now,
    say,
  };
}

/** @throws StartError in one sentence; nothing was changed then, unless the table's answer to the write was lost */
export async function manageUsers(given: UsersArguments, ports: UsersPorts): Promise<void> {
  try {
    if (given.verb === 'list') await list(given, ports);
    else if (given.verb === 'audit') await audit(given, ports);
    else if (given.verb === 'show') await show(given, ports);
    else await change(given, ports);
  } catch (error) {
    const { stackName } = ports;
    throw asStartError(
      error,
      `The users of ${stackName} cannot be read or changed`,
      `the same record of ${stackName}`,
    );
  }
}

async function list({ json }: UsersArguments, { admin, say, stackName }: UsersPorts): Promise<void> {
  const { records, unreadable } = await admin.list();
  const sorted = [...records].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  if (json) return say(JSON.stringify({ stack: stackName, records: sorted, unreadable }));
  if (sorted.length === 0) say(`Nothing has been granted in ${stackName}.`);
  for (const one of sorted) for (const line of recordWords(one)) say(line);
  if (unreadable > 0)
    say(`${unreadable} more were written under another identity key, and cannot be read or used any more.`);
}

const sortKey = ({ record }: Listed) => subjectWords(subjectOf(record));

async function audit({ limit, json }: UsersArguments, { admin, say, stackName }: UsersPorts): Promise<void> {
  const lines = await admin.audit(limit);
  if (json) return say(JSON.stringify({ stack: stackName, audit: lines }));
  if (lines.length === 0) say(`No change has been made in ${stackName}.`);
  for (const line of lines) say(auditWords(line));
}

/** With the keys and roles that act for a user, which one would look for next. */
async function show({ who, json }: UsersArguments, ports: UsersPorts): Promise<void> {
  const { admin, say, stackName } = ports;
  const { records } = await admin.list();
  const wanted = who?.kind === 'name' ? undefined : await admin.nameOf(subjectFor(who, ports));
  const name = who?.kind === 'name' ? who.name : wanted;
  const found = records.find((one) => one.name === name);
  const subject = found && subjectOf(found.record);
  const bound = records.filter(({ record }) => {
    const user = 'principal' in record ? record.standsFor : undefined;
    return (
      user && subject?.kind === 'user' && user.issuer === subject.issuer && user.subject === subject.subject
    );
  });
  if (json) return say(JSON.stringify({ stack: stackName, name, record: found ?? null, bound }));
  if (!found) return say(`Nothing is recorded of ${name ?? ''} in ${stackName}.`.replace('  ', ' '));
  for (const line of recordWords(found)) say(line);
  for (const { record } of bound) say(`  ${subjectWords(subjectOf(record))} acts for it`);
}

async function change(given: UsersArguments, ports: UsersPorts): Promise<void> {
  const { admin, say, stackName } = ports;
  const wanted = changeFor(given, ports);
  const { subject } = wanted;
  // Nothing that can fail comes after the write: the command would say that a change which was made could not be.
  const name = await admin.nameOf(subject);
  const { isChanged, record, ...end } = await admin.apply(wanted);
  const found = record && { name, record, ...end };
  if (given.json)
    return say(JSON.stringify({ stack: stackName, changed: isChanged, name, record: found ?? null }));
  say(
    isChanged
      ? `Written to ${stackName}; its functions see it within 60 seconds.`
      : `Nothing to change in ${stackName}.`,
  );
  if (found) for (const line of recordWords(found)) say(line);
  else say(`${subjectWords(subject)}\n  may do nothing, and is not blocked`);
  for (const hint of hintsFor(wanted, found)) say(hint);
}

/** What an operator may have meant otherwise. */
function hintsFor(wanted: Change, found: Listed | undefined): readonly string[] {
  const record = found && 'principal' in found.record ? found.record : undefined;
  const isOpen = record?.accounts.some(([account]) => account === '*');
  return [
    ...(wanted.action === 'grant' && wanted.accounts.some((one) => one !== '*')
      ? ['Account ids are taken as they are: compare them with those of listAccounts.']
      : []),
    ...(wanted.action === 'grant' && record?.blocked
      ? ['It is blocked: none of this counts until unblock.']
      : []),
    ...(wanted.action === 'revoke' && isOpen && !wanted.accounts.includes('*')
      ? ['Every account is still granted: revoke --all-accounts ends that.']
      : []),
    ...(/^revoke/.test(wanted.action) && record?.standsFor
      ? [`It goes on with the rights of ${subjectWords(record.standsFor)}: unbind or block ends that.`]
      : []),
    ...(wanted.action === 'sign-out'
      ? ['The user can sign in again, and keys that act for the user go on: block ends both.']
      : []),
  ];
}

const dayMs = 86_400_000;

function changeFor(given: UsersArguments, ports: UsersPorts): Change {
  const { verb, accounts, userData, scopes } = given;
  const subject = subjectFor(given.who, ports);
  if (!isPrincipal(subject)) {
    // Whole seconds, as DynamoDB keeps them.
    const expiresAt = 1000 * Math.ceil((ports.clock() + given.days * dayMs) / 1000);
    return verb === 'unblock'
      ? { action: verb, subject }
      : { action: 'block', subject, ...(subject.kind === 'token' && { expiresAt }) };
  }
  switch (verb) {
    case 'grant':
      return { action: verb, subject, accounts, userData, scopes: scopes ?? ['read'] };
    case 'revoke':
      if (accounts.length > 0 || userData)
        return { action: verb, subject, accounts, userData, scopes: scopes ?? [] };
      if (scopes) throw new StartError('Of what: --account, --all-accounts or --user-data beside --scopes.');
      return { action: 'revoke-all', subject };
    case 'bind':
      return { action: verb, subject, user: userFor(given.user ?? '', ports) };
    case 'sign-out':
      return {
        action: verb,
        subject: subject as User,
        // A token of this very second was issued before, too: its time is cut to the second.
        notBefore: Math.floor(ports.clock() / 1000) + 1,
      };
    case 'unbind':
    case 'block':
    case 'unblock':
      return { action: verb, subject };
    default:
      throw new TypeError(`${verb} changes nothing`);
  }
}

function userFor(subject: string, { outputs, stackName }: UsersPorts): User {
  const issuer = outputs.get(issuerOutput);
  if (!issuer)
    throw new StartError(
      `The stack ${stackName} takes no tokens, so it has no users: set auth in the stage, or grant to a key, a role or an event source itself.`,
    );
  return { kind: 'user', issuer, subject };
}

function subjectFor(who: Who | undefined, ports: UsersPorts): Subject {
  if (!who || who.kind === 'name') throw new TypeError('a command without a subject');
  if (who.kind === 'user') return userFor(who.subject, ports);
  if (who.kind === 'key' && 'plan' in who) {
    const id = ports.outputs.get(keyOutput(who.plan, who.key));
    if (!id)
      throw new StartError(`The stack ${ports.stackName} has no key ${who.key} in a plan ${who.plan}.`);
    return { kind: 'key', id };
  }
  return who;
}
