/** `countersign users`: its arguments, which are checked before AWS is asked anything. */

import { principalArn } from '../../lib/access/evidence.ts';
import { isNameText } from '../../lib/access/token-claims.ts';
import { type Scope, scopes } from '../../lib/catalogue/scopes.ts';
import { defined } from '../defined.ts';
import { type CommandGroup, command, flag, type GivenOptions, refuse, value, values } from './command.ts';
import { accountIn, deployed, json, targetOf, whole, wholeIn } from './readers.ts';
import type { CommandSubject, UsersArguments, Verb } from './users.ts';

/** Accepts names as tokens have them. Invisible characters would make two people look like one. */
const visible = (text: string): string =>
  isNameText(text)
    ? text
    : refuse('must be 1 to 512 visible characters, with single spaces between them at most.');

const callerPatterns = [
  String.raw`iam::\d{12}:role/[\w+=,.@-]+`,
  String.raw`iam::\d{12}:user/[\w+=,.@/-]+`,
  String.raw`iam::\d{12}:root`,
  String.raw`sts::\d{12}:federated-user/[\w+=,.@-]+`,
];
const isCallersArn = new RegExp(String.raw`^arn:aws[\w-]*:(${callerPatterns.join('|')})$`);

/** Accepts the ARN that API Gateway would report for a caller: a rule for any other ARN would have no effect. */
function callersArn(text: string): string {
  const arn = principalArn(text);
  return text.length <= 640 && isCallersArn.test(arn)
    ? arn
    : refuse('must be the ARN of a role or a user: arn:aws:iam::123456789012:role/name.');
}

/** Accepts ids of API Gateway, which have 10 characters. Values have 20 and more, and are secret. */
function keyIn(text: string): CommandSubject {
  const [plan = '', key, ...rest] = text.split('/');
  if (key !== undefined && rest.length === 0) return { kind: 'key', plan: visible(plan), key: visible(key) };
  return /^[A-Za-z0-9]{1,19}$/.test(text)
    ? { kind: 'key', id: text }
    : refuse('must be the id of an API key, not its value, or the names of its plan and key: plan/key.');
}

function scopesIn(text: string): readonly Scope[] {
  const parts = text.split(',').map((one) => one.trim());
  const isScope = (one: string): one is Scope => (scopes as readonly string[]).includes(one);
  return parts.every(isScope) ? parts : refuse(`must be of ${scopes.join(', ')}, with commas between.`);
}

const who = <T extends CommandSubject>(shape: string, says: string, read: (text: string) => T) =>
  value<CommandSubject>(shape, says, read);
const bindableOptions = {
  key: who('<id>', 'an API key: its id, or the names plan/key', keyIn),
  iam: who('<arn>', 'a role or a user of AWS', (text) => ({ kind: 'iam', arn: callersArn(text) })),
  source: who('<name>', 'the source of requests by event', (text) => ({
    kind: 'source',
    name: visible(text),
  })),
};
const userOption = {
  user: who('<subject>', 'the subject of the user’s tokens', (text) => ({
    kind: 'user',
    subject: visible(text),
  })),
};
const principalOptions = { ...userOption, ...bindableOptions };
const subjectOptions = {
  ...principalOptions,
  app: who('<id>', 'an app: its client id', (text) => ({ kind: 'app', id: visible(text) })),
  token: who('<jti>', 'one access token, by the claim jti', (text) => ({ kind: 'token', id: visible(text) })),
};
const rightsOptions = {
  account: values('<id>', 'an account, as often as needed', accountIn),
  allAccounts: flag('every account of the app key'),
  userData: flag('watchlists'),
  scopes: value('<list>', 'read looks, trade places and changes orders, write changes watchlists', scopesIn),
};
const targetOptions = { ...deployed, json };
const isWho = (given: unknown): given is CommandSubject =>
  typeof given === 'object' && given !== null && 'kind' in given;

/** Options that any of the verbs may have. */
type UserOptions = Partial<Omit<GivenOptions<typeof rightsOptions & typeof targetOptions>, 'user'>> &
  Readonly<Partial<Record<keyof typeof subjectOptions | 'name', CommandSubject | string | undefined>>> & {
    readonly days?: number | undefined;
    readonly limit?: number;
  };

/** @param kinds options of which exactly one says whom the verb is about; empty for a verb that is about all */
function checkArguments(verb: Verb, kinds: readonly string[], given: UserOptions): UsersArguments {
  const found = Object.values(given).filter(isWho);
  if (kinds.length > 0 && found.length !== 1)
    return refuse(`${verb} takes one of ${kinds.map((one) => `--${one}`).join(', ')}.`);
  const [who] = found;
  const { account = [], allAccounts = false, userData = false, user, days } = given;
  const accounts = [...new Set(allAccounts ? [...account, '*'] : account)];
  if (verb === 'bind' && user === undefined) return refuse('bind wants --user, whom it acts for.');
  if (verb === 'grant' && accounts.length === 0 && !userData)
    return refuse('grant wants --account, --all-accounts or --user-data.');
  if (days !== undefined && who?.kind !== 'token')
    return refuse('--days is for a token, which expires by itself: another block stays until unblock.');
  return {
    target: targetOf({ stage: given.stage, stack: given.stack }),
    verb,
    accounts,
    userData,
    days: days ?? 90,
    limit: given.limit ?? 50,
    json: given.json ?? false,
    ...defined({ who, user: typeof user === 'string' ? user : undefined, scopes: given.scopes }),
  };
}

const run = async (given: UsersArguments) => {
  const { deployedUsers, manageUsers } = await import('./users.ts');
  return manageUsers(given, await deployedUsers(given));
};

type VerbOptions = Parameters<typeof command>[0]['options'];

/** Verbs, each with a phrase, the options for its subject, its other options, and an example. */
const verbs = {
  grant: [
    'lets a caller read or trade; the scope is read unless others are given',
    principalOptions,
    rightsOptions,
    '--stage prod --user 8f0c --account 1234567 --scopes read,trade',
  ],
  revoke: [
    'takes rights away, or all of them where none is named',
    principalOptions,
    rightsOptions,
    '--stage prod --user 8f0c --account 1234567 --scopes trade',
  ],
  bind: [
    'lets a key, a role or a source act with the rights of a user',
    bindableOptions,
    { user: value('<subject>', 'the user whom it acts for', visible) },
    '--stage prod --key default/default --user 8f0c',
  ],
  unbind: ['ends a binding', bindableOptions, {}, '--stage prod --key a1b2c3d4e5'],
  block: [
    'refuses a caller, an app or a token',
    subjectOptions,
    { days: value('<n>', 'how long a token stays blocked (default: 90)', wholeIn(3650)) },
    '--stage prod --token 7f1d --days 30',
  ],
  unblock: ['ends a block', subjectOptions, {}, '--stage prod --user 8f0c'],
  'sign-out': [
    'refuses the tokens of a user that are issued until a minute from now',
    userOption,
    {},
    '--stage prod --user 8f0c',
  ],
  show: [
    'shows the rights of one caller',
    {
      ...subjectOptions,
      name: who('<name>', 'the name in a log line', (text) => ({ kind: 'name', name: visible(text) })),
    },
    {},
    '--stage prod --key default/default',
  ],
  list: ['lists who may do something, or is blocked', {}, {}, '--stage prod --json'],
  audit: [
    'shows who changed what, the newest first',
    {},
    { limit: whole('the most changes to show', 10_000, '50') },
    '--stage prod --limit 20',
  ],
} as const satisfies Readonly<Record<Verb, readonly [string, VerbOptions, VerbOptions, string]>>;

export const users: CommandGroup = Object.fromEntries(
  Object.entries(verbs).map(([verb, [says, kinds, also, example]]) => [
    verb,
    [
      says,
      command<VerbOptions, UsersArguments>({
        options: { ...kinds, ...also, ...targetOptions },
        examples: [example],
        check: (given) => checkArguments(verb as Verb, Object.keys(kinds), given as UserOptions),
        run,
      }),
    ],
  ]),
);
