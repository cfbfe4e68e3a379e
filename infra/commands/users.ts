/**
 * `countersign users`: who may see and trade on which account. It writes the directory's table, each change with a line of
 * the audit. It reads the identity key, because the table holds people and accounts as sealed bytes.
 */

import type { AccessAdmin, Listed } from '../../lib/access/admin.ts';
import type { GrantChange } from '../../lib/access/change.ts';
import { type AccessSubject, isPrincipal, subjectOf, type User } from '../../lib/access/records.ts';
import { skewSeconds } from '../../lib/access/token-claims.ts';
import type { Scope } from '../../lib/catalogue/scopes.ts';
import { StartError } from '../environment.ts';
import { keyOutput } from '../stack/outputs.ts';
import { operatorArn } from './operator.ts';
import { linesIf, type Report } from './print.ts';
import type { StackTarget } from './readers.ts';
import { accessTableOutput, inSentences, issuerOutput, sealedStack } from './sealed-stack.ts';
import { auditWords, recordWords, subjectWords } from './users-words.ts';

/** Subject that a command is about. */
export type CommandSubject =
  | { readonly kind: 'user'; readonly subject: string }
  /** An API key: its id, or the names of its plan and key. */
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'key'; readonly plan: string; readonly key: string }
  | { readonly kind: 'iam'; readonly arn: string }
  | { readonly kind: 'source'; readonly name: string }
  | { readonly kind: 'token' | 'app'; readonly id: string }
  /** Keyed name in a log line. */
  | { readonly kind: 'name'; readonly name: string };

type ChangingVerb = 'grant' | 'revoke' | 'bind' | 'unbind' | 'block' | 'unblock' | 'sign-out';
export type Verb = ChangingVerb | 'show' | 'list' | 'audit';

export interface UsersArguments {
  readonly target: StackTarget;
  readonly verb: Verb;
  /** Subject of the command; absent for `list` and `audit`. */
  readonly who?: CommandSubject;
  /** The subject that a key, a role or a source is bound to. */
  readonly user?: string;
  /** Account ids; `*` for all. */
  readonly accounts: readonly string[];
  readonly userData: boolean;
  /** Scopes as given; undefined if none are. */
  readonly scopes?: readonly Scope[];
  /** Days for which a token stays blocked. */
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
}

const readingVerbs: Readonly<Partial<Record<Verb, typeof list>>> = { list, show, audit };
const revokingVerbs: ReadonlySet<Verb> = new Set<Verb>(['revoke', 'block', 'sign-out']);

/** @throws StartError when the stack, its identity key, or the operator's identity cannot be read */
export async function deployedUsers({ target, verb }: UsersArguments): Promise<UsersPorts> {
  const stack = await sealedStack(target, accessTableOutput, 'knows no users: open a group of account data');
  const by = readingVerbs[verb] ? '' : await operatorArn();
  return { ...stack, admin: stack.directory(by), clock: Date.now };
}

/** @throws StartError with one sentence; nothing was changed then, unless the table's answer to the write was lost */
export function manageUsers(given: UsersArguments, ports: UsersPorts): Promise<Report> {
  const { stackName } = ports;
  return inSentences(
    () => (readingVerbs[given.verb] ?? change)(given, ports),
    `The users of ${stackName} cannot be read or changed`,
    `the same record of ${stackName}`,
  );
}

async function list(_: UsersArguments, ports: UsersPorts): Promise<Report> {
  const { admin, stackName } = ports;
  const { records, unreadable } = await admin.list();
  const sorted = [...records].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return {
    data: { stack: stackName, records: sorted, unreadable },
    lines: [
      ...linesIf(sorted.length === 0, `Nothing has been granted in ${stackName}.`),
      ...sorted.flatMap((one) => recordWords(one, issuerIn(ports))),
      ...linesIf(
        unreadable > 0,
        `${unreadable} more were written under another identity key, and cannot be read or used any more.`,
      ),
    ],
  };
}

const sortKey = ({ record }: Listed) => subjectWords(subjectOf(record));

async function audit({ limit }: UsersArguments, ports: UsersPorts): Promise<Report> {
  const { admin, stackName } = ports;
  const changes = await admin.audit(limit);
  return {
    data: { stack: stackName, audit: changes },
    lines: [
      ...linesIf(changes.length === 0, `No change has been made in ${stackName}.`),
      ...changes.map((one) => auditWords(one, issuerIn(ports))),
    ],
  };
}

/** Shows a record together with the keys and roles that act for the user, which an operator would look for next. */
async function show({ who }: UsersArguments, ports: UsersPorts): Promise<Report> {
  const { admin, stackName } = ports;
  const { records } = await admin.list();
  const subjects =
    who?.kind === 'name'
      ? records.flatMap(({ name, record }) => (name === who.name ? [subjectOf(record)] : []))
      : subjectsFor(who, records, ports);
  const lookUps = await Promise.all(subjects.map((one) => lookedUp(one, records, ports)));
  const name = who?.kind === 'name' ? who.name : (lookUps[0]?.name ?? '');
  const shownLookUps = lookUps.filter(({ found, bound }) => found || bound.length > 0);
  const [record = null] = lookUps.flatMap((one) => (one.name === name ? (one.found ?? []) : []));
  const others = lookUps.flatMap((one) => (one.name === name ? [] : (one.found ?? [])));
  const bound = lookUps.flatMap((one) => one.bound);
  const issuer = issuerIn(ports);
  return {
    data: { stack: stackName, name, record, bound, ...(others.length > 0 && { others }) },
    lines: [
      ...linesIf(shownLookUps.length === 0, `Nothing is recorded of ${name} in ${stackName}.`),
      ...shownLookUps.flatMap(({ subject, found, bound }) => [
        ...(found ? recordWords(found, issuer) : [subjectWords(subject, issuer)]),
        ...bound.map(({ record }) => `  ${subjectWords(subjectOf(record))} acts for it`),
      ]),
    ],
  };
}

async function lookedUp(subject: AccessSubject, records: readonly Listed[], { admin }: UsersPorts) {
  const name = await admin.nameOf(subject);
  const bound = records.filter(({ record }) => {
    const user = 'principal' in record ? record.standsFor : undefined;
    return (
      user && subject.kind === 'user' && user.issuer === subject.issuer && user.subject === subject.subject
    );
  });
  return { subject, name, found: records.find((one) => one.name === name), bound };
}

/** Change that was made, and the record of its subject afterwards. */
interface MadeChange {
  readonly wanted: GrantChange;
  readonly isChanged: boolean;
  readonly name: string;
  readonly found: Listed | undefined;
}

async function change(given: UsersArguments, ports: UsersPorts): Promise<Report> {
  const { stackName } = ports;
  const issuer = issuerIn(ports);
  const madeChanges = await makeAll(await changesFor(given, ports), stackName, ports.admin);
  const isChanged = madeChanges.some((one) => one.isChanged);
  const [first, ...others] = madeChanges.map(({ name, found }) => ({ name, record: found ?? null }));
  return {
    data: { stack: stackName, changed: isChanged, ...first, ...(others.length > 0 && { others }) },
    lines: [
      isChanged
        ? `Written to ${stackName}; its functions see it within 60 seconds.`
        : `Nothing to change in ${stackName}.`,
      ...madeChanges.flatMap(({ wanted, found }) =>
        found
          ? recordWords(found, issuer)
          : [subjectWords(wanted.subject, issuer), '  may do nothing, and is not blocked'],
      ),
      ...new Set(madeChanges.flatMap((one) => hintsFor(one, issuer))),
      ...linesIf(
        others.length > 0,
        `That is the user of the stage’s issuer, and of each other one in the table: ${madeChanges.map(issuerOf).join(', ')}. grant, bind and unblock take the stage’s issuer.`,
      ),
    ],
  };
}

const issuerOf = ({ wanted: { subject } }: Pick<MadeChange, 'wanted'>) =>
  subject.kind === 'user' ? subject.issuer : '';

/** Applies a change that takes rights away to the user of every issuer, and one that gives rights to the stage's issuer. */
async function changesFor(given: UsersArguments, ports: UsersPorts): Promise<readonly GrantChange[]> {
  const isOfAll = given.who?.kind === 'user' && revokingVerbs.has(given.verb);
  const records = isOfAll ? (await ports.admin.list()).records : [];
  return subjectsFor(given.who, records, ports).map((one) => changeFor(given, one, ports));
}

async function makeAll(changes: readonly GrantChange[], stackName: string, admin: AccessAdmin) {
  const madeChanges: MadeChange[] = [];
  for (const wanted of changes)
    try {
      // Reads all that can fail before the write: afterwards, an error would claim that nothing was changed.
      const name = await admin.nameOf(wanted.subject);
      const { isChanged, record, ...end } = await admin.apply(wanted);
      madeChanges.push({ wanted, isChanged, name, found: record && { name, record, ...end } });
    } catch (error) {
      if (madeChanges.length === 0) throw error;
      throw new StartError(
        `Written to ${stackName} for the user of ${madeChanges.map(issuerOf).join(', ')}, and not for that of ${issuerOf({ wanted })}: run the command again.`,
      );
    }
  return madeChanges;
}

/** Advice on what an operator may have meant otherwise. */
function hintsFor({ wanted, found }: MadeChange, issuer: string): readonly string[] {
  const record = found && 'principal' in found.record ? found.record : undefined;
  const isOpen = record?.accounts.some(([account]) => account === '*');
  return [
    ...linesIf(
      wanted.action === 'grant' && wanted.accounts.some((one) => one !== '*'),
      'Account ids are taken as they are: compare them with those of listAccounts.',
    ),
    ...linesIf(
      wanted.action === 'grant' && record?.blocked,
      'It is blocked: none of this counts until unblock.',
    ),
    ...linesIf(
      wanted.action === 'revoke' && isOpen && !wanted.accounts.includes('*'),
      'Every account is still granted: revoke --all-accounts ends that.',
    ),
    ...(/^revoke/.test(wanted.action) && record?.standsFor
      ? [
          `It goes on with the rights of ${subjectWords(record.standsFor, issuer)}: unbind or block ends that.`,
        ]
      : []),
    ...linesIf(
      wanted.action === 'sign-out',
      `The user can sign in again after ${skewSeconds} seconds, by which clocks may differ. Keys that act for the user go on; block ends both.`,
    ),
  ];
}

const dayMs = 86_400_000;

function changeFor(given: UsersArguments, subject: AccessSubject, ports: UsersPorts): GrantChange {
  const { verb, accounts, userData, scopes } = given;
  if (!isPrincipal(subject)) {
    // Whole seconds, because DynamoDB expires items by them.
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
        // A token's time is cut to the second, so one of this very second was issued before, too; and clocks differ.
        notBefore: Math.floor(ports.clock() / 1000) + 1 + skewSeconds,
      };
    case 'unbind':
    case 'block':
    case 'unblock':
      return { action: verb, subject };
    default:
      throw new TypeError(`${verb} changes nothing`);
  }
}

/** Issuer of tokens; empty if the stage accepts none. */
const issuerIn = ({ outputs }: UsersPorts): string => outputs.get(issuerOutput) ?? '';

function userFor(subject: string, ports: UsersPorts): User {
  const issuer = issuerIn(ports);
  if (!issuer)
    throw new StartError(
      `The stack ${ports.stackName} takes no tokens, so it has no users: set auth in the stage, or grant to a key, a role or an event source itself.`,
    );
  return { kind: 'user', issuer, subject };
}

/** Includes users of the stage's earlier issuers: a key that was bound to such a user still acts for it. */
function subjectsFor(
  who: CommandSubject | undefined,
  records: readonly Listed[],
  ports: UsersPorts,
): readonly AccessSubject[] {
  if (who?.kind !== 'user') return [subjectFor(who, ports)];
  const issuers = new Set(issuerIn(ports) ? [issuerIn(ports)] : []);
  for (const { record } of records) {
    const user = 'principal' in record ? (record.standsFor ?? record.principal) : undefined;
    if (user?.kind === 'user' && user.subject === who.subject) issuers.add(user.issuer);
  }
  if (issuers.size === 0) return [userFor(who.subject, ports)];
  return [...issuers].map((issuer) => ({ kind: 'user', issuer, subject: who.subject }));
}

function subjectFor(who: CommandSubject | undefined, ports: UsersPorts): AccessSubject {
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
