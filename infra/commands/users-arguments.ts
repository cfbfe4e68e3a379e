/** The arguments of `npm run users`: what stands in them, checked before AWS is asked anything. */

import { principalArn } from '../../lib/access/evidence.ts';
import { isNameText } from '../../lib/access/token-claims.ts';
import { type Scope, scopes } from '../../lib/catalogue/scopes.ts';
import { accountIn, type Fail, failWith, onlyKnown, parsedArguments, stageIn, wholeIn } from './arguments.ts';

/** Whom or what a command is about, as the operator writes it. */
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

export type Verb = keyof typeof verbs;

export interface UsersArguments {
  readonly stage: string;
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

const principals = ['user', 'key', 'iam', 'source'] as const;
const bindable = ['key', 'iam', 'source'] as const;
const subjects = [...principals, 'app', 'token'] as const;
const rights = ['account', 'all-accounts', 'user-data', 'scopes'] as const;

/** One of `who` is required; `also` may be there. */
const verbs = {
  grant: { who: principals, also: rights },
  revoke: { who: principals, also: rights },
  bind: { who: bindable, also: ['user'] },
  unbind: { who: bindable, also: [] },
  block: { who: subjects, also: ['days'] },
  unblock: { who: subjects, also: [] },
  'sign-out': { who: ['user'], also: [] },
  show: { who: [...subjects, 'name'], also: [] },
  list: { who: [], also: [] },
  audit: { who: [], also: ['limit'] },
} as const satisfies Record<string, { readonly who: readonly string[]; readonly also: readonly string[] }>;

const isVerb = (text: string): text is Verb => Object.hasOwn(verbs, text);

const options = {
  user: { type: 'string' },
  key: { type: 'string' },
  iam: { type: 'string' },
  source: { type: 'string' },
  app: { type: 'string' },
  token: { type: 'string' },
  name: { type: 'string' },
  account: { type: 'string', multiple: true },
  'all-accounts': { type: 'boolean' },
  'user-data': { type: 'boolean' },
  scopes: { type: 'string' },
  days: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const usage = `Usage: npm run users -- [stage] <command> …          (without a stage: dev)

  grant    <who> <what> [--scopes read,trade,write]   default: read
  revoke   <who> [<what>] [--scopes …]                without <what>: all that it was granted
  bind     <key, iam or source> --user <subject>      it acts with the rights of that user
  unbind   <key, iam or source>
  block    <who> | --app <client id> | --token <jti> [--days 90]
  unblock  <who> | --app <client id> | --token <jti>
  sign-out --user <subject>                           refuses the tokens issued until now
  show     <who> | --app … | --token … | --name <the name in a log line>
  list                                                all who may do something, or are blocked
  audit    [--limit 50]                               who changed what, the newest first

<who>   --user <subject of the token> | --key <id, or plan/key> | --iam <arn> | --source <event source>
<what>  --account <id> (as often as needed) | --all-accounts | --user-data (watchlists)
read looks, trade places and changes orders, write changes watchlists. --json prints JSON.

  npm run users -- prod grant --user 8f0c… --account 1234567 --scopes read,trade
  npm run users -- grant --key default/default --all-accounts
  npm run users -- bind --key a1b2c3d4e5 --user 8f0c…`;

const fail: Fail = failWith('npm run users -- --help lists the commands.');

/**
 * @returns undefined when help is wanted
 * @throws StartError for arguments that say nothing clear
 */
export function usersArguments(args: readonly string[]): UsersArguments | undefined {
  const { values, positionals } = parsedArguments(args, options, fail);
  if (values.help || args.length === 0) return undefined;
  const [verb = '', ...rest] = positionals.length > 1 ? positionals.slice(1) : positionals;
  const stage = positionals.length > 1 ? (positionals[0] as string) : 'dev';
  if (!isVerb(verb) || rest.length > 0)
    return fail(`${JSON.stringify(positionals.join(' '))} is no command, or no stage and command.`);
  stageIn(stage, fail);
  const { who: kinds, also } = verbs[verb];
  onlyKnown(verb, values, [...kinds, ...also, 'json'], fail);
  const given = kinds.filter((kind) => values[kind] !== undefined);
  const [kind] = given;
  if (kinds.length > 0 && given.length !== 1)
    return fail(`${verb} takes one of ${kinds.map((one) => `--${one}`).join(', ')}.`);
  const result: UsersArguments = {
    stage,
    verb,
    ...(kind && { who: whoOf(kind, values[kind] as string) }),
    ...(kind !== 'user' && values.user !== undefined && { user: visible('user', values.user) }),
    accounts: accountsOf(values.account, values['all-accounts']),
    userData: values['user-data'] ?? false,
    ...(values.scopes !== undefined && { scopes: scopesIn(values.scopes) }),
    days: wholeIn('days', values.days ?? '90', 3650, fail),
    limit: wholeIn('limit', values.limit ?? '50', 10_000, fail),
    json: values.json ?? false,
  };
  if (verb === 'bind' && result.user === undefined) return fail('bind wants --user, whom it acts for.');
  if (verb === 'grant' && result.accounts.length === 0 && !result.userData)
    return fail('grant wants --account, --all-accounts or --user-data.');
  if (verb === 'block' && values.days !== undefined && kind !== 'token')
    return fail('--days is for a token, which expires by itself: another block stays until unblock.');
  return result;
}

/** As in tokens. What shows nothing or turns the text would make two people look like one. */
function visible(option: string, text: string): string {
  if (!isNameText(text))
    return fail(`--${option} must be 1 to 512 visible characters, with single spaces between them at most.`);
  return text;
}

function whoOf(kind: Who['kind'], text: string): Who {
  switch (kind) {
    case 'user':
      return { kind, subject: visible(kind, text) };
    case 'key':
      return keyOf(text);
    case 'iam':
      return { kind, arn: callersArn(text) };
    case 'source':
    case 'name':
      return { kind, name: visible(kind, text) };
    case 'app':
    case 'token':
      return { kind, id: visible(kind, text) };
  }
}

const callers = [
  String.raw`iam::\d{12}:role/[\w+=,.@-]+`,
  String.raw`iam::\d{12}:user/[\w+=,.@/-]+`,
  String.raw`iam::\d{12}:root`,
  String.raw`sts::\d{12}:federated-user/[\w+=,.@-]+`,
];
const isCallersArn = new RegExp(String.raw`^arn:aws[\w-]*:(${callers.join('|')})$`);

/** As API Gateway reports a caller's: what is said of any other ARN would have no effect. */
function callersArn(text: string): string {
  const arn = principalArn(text);
  return text.length <= 640 && isCallersArn.test(arn)
    ? arn
    : fail('--iam must be the ARN of a role or a user: arn:aws:iam::123456789012:role/name.');
}

/** Ids of API Gateway have 10 characters; values have 20 and more, and are secret. */
function keyOf(text: string): Who {
  const [plan = '', key, ...rest] = text.split('/');
  if (key !== undefined && rest.length === 0)
    return { kind: 'key', plan: visible('key', plan), key: visible('key', key) };
  if (!/^[A-Za-z0-9]{1,19}$/.test(text))
    return fail(
      '--key must be the id of an API key, not its value, or the names of its plan and key: plan/key.',
    );
  return { kind: 'key', id: text };
}

function accountsOf(given: readonly string[] = [], all = false): readonly string[] {
  for (const account of given) accountIn(account, fail);
  return [...new Set(all ? [...given, '*'] : given)];
}

function scopesIn(text: string): readonly Scope[] {
  const given = text.split(',').map((one) => one.trim());
  const isScope = (one: string): one is Scope => (scopes as readonly string[]).includes(one);
  return given.every(isScope)
    ? given
    : fail(`--scopes must be of ${scopes.join(', ')}, with commas between.`);
}
