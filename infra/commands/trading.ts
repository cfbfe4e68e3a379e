/**
 * `countersign trading`: limits of trading, the kill switch, and their history. It writes the table of controls, each change
 * with a record of the history. It reads the identity key and the directory, because the table holds keyed names in place
 * of accounts and users.
 */

import { createDynamoControlAdmin } from '../../functions/aws/dynamo-control-admin.ts';
import type { AccessAdmin } from '../../lib/access/admin.ts';
import { type ControlAdmin, createControlAdmin, type ListedControl } from '../../lib/guard-rails/admin.ts';
import type { ControlChange, ControlSubject } from '../../lib/guard-rails/control-changes.ts';
import { maxControlAgeMs } from '../../lib/guard-rails/controls.ts';
import {
  areLimits,
  type LimitChanges,
  readLimits,
  sharesInWords,
  type TradingLimits,
  withChanges,
} from '../../lib/guard-rails/limits.ts';
import { StartError } from '../environment.ts';
import { tradingControlsTableOutput, tradingLimitsOutput } from '../stack/outputs.ts';
import { operatorArn } from './operator.ts';
import { linesIf, type Report } from './print.ts';
import type { StackTarget } from './readers.ts';
import { inSentences, sealedStack } from './sealed-stack.ts';
import { controlWords, deployedWords, historyWords, listWords, scopeWords } from './trading-words.ts';
import { isCalled } from './users-words.ts';

export type TradingVerb = 'limits' | 'stop' | 'resume' | 'history';

/** Scope of limits or of a stop, as the operator writes it. */
type TradingScope =
  | { readonly kind: 'gateway' }
  | { readonly kind: 'account'; readonly id: string }
  /** Subject of a token, or the name of a key, a role or a source. */
  | { readonly kind: 'user'; readonly text: string };

export interface TradingArguments {
  readonly target: StackTarget;
  readonly verb: TradingVerb;
  readonly scope: TradingScope;
  /** New limits; absent when they are only shown. */
  readonly changes?: LimitChanges;
  readonly reason?: string;
  /** Whether a stop also cancels open orders. */
  readonly cancelOpen?: boolean;
  readonly limit: number;
  readonly json: boolean;
}

export interface TradingPorts {
  readonly stackName: string;
  readonly admin: ControlAdmin;
  readonly directory: Pick<AccessAdmin, 'list'>;
  /** Issuer of access tokens; undefined if the stack accepts none. */
  readonly issuer: string | undefined;
  /** Limits of the gateway until an operator sets others. */
  readonly deployed: TradingLimits;
}

/** @throws StartError when the stack, its identity key, or the operator's identity cannot be read */
export async function deployedTrading(given: TradingArguments): Promise<TradingPorts> {
  const stack = await sealedStack(
    given.target,
    tradingControlsTableOutput,
    'places no orders: open the group orders',
  );
  const by = changeOf(given) ? await operatorArn() : '';
  const deployed = readLimits(JSON.parse(stack.output(tradingLimitsOutput)));
  return {
    ...stack,
    admin: createControlAdmin({ ...stack, store: createDynamoControlAdmin(stack.store), by }),
    directory: stack.directory(),
    deployed: areLimits(deployed) ? deployed : {},
  };
}

/** @throws StartError with one sentence; nothing was changed then */
export function manageTrading(given: TradingArguments, ports: TradingPorts): Promise<Report> {
  const { stackName } = ports;
  const work = async () => {
    const { subject, hint } = await subjectFor(given, ports);
    const change = changeOf(given, subject);
    if (change) return apply(given, change, ports, hint);
    return given.verb === 'history' ? history(given, subject, ports) : show(given, subject, ports);
  };
  return inSentences(
    work,
    `The limits of ${stackName} cannot be read or changed`,
    `the same scope of ${stackName}`,
  );
}

/** Makes the change that a verb asks for; undefined when it only reads. */
function changeOf(
  { verb, changes, reason, cancelOpen }: TradingArguments,
  subject: ControlSubject = { kind: 'gateway' },
): ControlChange | undefined {
  if (verb === 'history') return undefined;
  if (verb === 'stop')
    return { action: verb, subject, reason: reason ?? '', ...(cancelOpen && { cancelOpen }) };
  if (verb === 'resume') return { action: verb, subject, reason: reason ?? '' };
  return changes && { action: 'limits', subject, changes, reason };
}

async function show(
  { scope }: TradingArguments,
  subject: ControlSubject,
  ports: TradingPorts,
): Promise<Report> {
  const { admin, stackName, deployed } = ports;
  const found =
    scope.kind === 'gateway'
      ? await admin.list()
      : [await admin.find(subject)].filter((one) => one !== undefined);
  const controls = [...found].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const isOfAll = scope.kind === 'gateway';
  return {
    data: { stack: stackName, deployed, controls },
    lines: [
      ...linesIf(isOfAll && controls.every(({ name }) => name !== undefined), ...deployedWords(deployed)),
      ...linesIf(
        !isOfAll && controls.length === 0,
        `Nothing was ever set of ${scopeWords(subject)} in ${stackName}.`,
      ),
      ...controls.flatMap((one) => controlWords(one, deployed)),
    ],
  };
}

/** Sorts the gateway first, then accounts, then users. */
const sortKey = ({ name, about }: ListedControl) =>
  name === undefined ? '' : about ? scopeWords(about.subject) : `~${name}`;

/** Records that are searched for those of one scope; older ones are not found. */
const maxHistory = 10_000;

async function history(
  { scope, limit }: TradingArguments,
  subject: ControlSubject,
  { admin, stackName }: TradingPorts,
): Promise<Report> {
  const all = await admin.history(scope.kind === 'gateway' ? limit : maxHistory);
  const wanted = scopeWords(subject);
  const found =
    scope.kind === 'gateway'
      ? all
      : all.filter((line) => 'change' in line && scopeWords(line.change.subject) === wanted).slice(0, limit);
  return {
    data: { stack: stackName, history: found },
    lines: [
      ...linesIf(found.length === 0, `The table of ${stackName} has no change of trading.`),
      ...found.map(historyWords),
    ],
  };
}

async function apply(
  given: TradingArguments,
  change: ControlChange,
  { admin, stackName, deployed }: TradingPorts,
  hint?: string,
): Promise<Report> {
  const { isChanged, control, limitsBefore } = await admin.apply(change);
  const changed: string[] = [];
  if (change.action === 'limits' && control) {
    const isOfAll = change.subject.kind === 'gateway';
    const before = withChanges(isOfAll ? deployed : {}, limitsBefore);
    const now = withChanges(isOfAll ? deployed : {}, control.limits);
    changed.push(...listWords(before, now), ...(isOfAll ? sharesInWords(now) : []));
  }
  return {
    data: { stack: stackName, changed: isChanged, control: control ?? null },
    lines: [
      isChanged
        ? `Written to ${stackName}; effective in all functions within ${maxControlAgeMs / 1000} seconds.`
        : `Nothing to change in ${stackName}.`,
      ...(control ? controlWords(control, deployed) : []),
      ...changed,
      ...(hint === undefined ? [] : [hint]),
      ...hintsFor(given, change),
    ],
  };
}

function hintsFor({ target, scope }: TradingArguments, change: ControlChange): readonly string[] {
  const { action } = change;
  const whose =
    scope.kind === 'gateway'
      ? ''
      : scope.kind === 'account'
        ? ` --account ${scope.id}`
        : ` --user ${shellQuoted(scope.text)}`;
  return [
    ...linesIf(
      action === 'stop',
      'Orders are neither placed nor replaced; cancels go through.',
      action === 'stop' && change.cancelOpen ? cancelNotes[scope.kind] : notCancelled,
      `To resume: countersign trading resume ${target.options}${whose} --reason "…"`,
    ),
    ...linesIf(
      action === 'resume' && scope.kind !== 'gateway',
      'A stop of the whole gateway, or of others that the order belongs to, goes on.',
    ),
  ];
}

const notCancelled = 'Open orders are not cancelled by it: the same command with --cancel-open cancels them.';
const lateOrdersNote =
  'Those that show up late go as they come, for a quarter of an hour. Orders placed up to 65 seconds from now go, too, also after a resume.';

const cancelNotes = {
  gateway: `All open orders are being cancelled, also those of other programs with the same app key. ${lateOrdersNote}`,
  account: `All open orders of the account are being cancelled, also those of other programs with the same app key. ${lateOrdersNote}`,
  user: `Open orders that the user placed through the gateway are being cancelled. ${lateOrdersNote}`,
} as const satisfies Readonly<Record<TradingArguments['scope']['kind'], string>>;

const shellQuoted = (text: string) => (/^[\w.:/@-]+$/.test(text) ? text : JSON.stringify(text));

interface ResolvedScope {
  readonly subject: ControlSubject;
  /** Advice for the operator when a wrong name would go unnoticed. */
  readonly hint?: string;
}

/** Finds the subject of the scope. A key, role or source that acts for a user stands for that user. */
async function subjectFor({ scope }: TradingArguments, ports: TradingPorts): Promise<ResolvedScope> {
  if (scope.kind === 'account')
    return {
      subject: scope,
      hint: 'Account ids are taken as they are: compare them with those of listAccounts.',
    };
  if (scope.kind === 'gateway') return { subject: scope };
  const { directory, issuer, stackName } = ports;
  const { records } = await directory.list();
  const found = records.flatMap((one) => {
    const { record } = one;
    return 'principal' in record && isCalled(scope.text, one) ? [record.standsFor ?? record.principal] : [];
  });
  const distinct = new Map(found.map((one) => [JSON.stringify(one), one]));
  const [user] = distinct.values();
  if (distinct.size > 1)
    throw new StartError(
      `${JSON.stringify(scope.text)} is the name of ${distinct.size} in ${stackName}: give the name in logs, which countersign users list shows.`,
    );
  if (user) return { subject: { kind: 'user', user } };
  if (issuer)
    return {
      subject: { kind: 'user', user: { kind: 'user', issuer, subject: scope.text } },
      hint: 'Nothing has been granted to this user: compare the subject with that of the token.',
    };
  throw new StartError(
    `Nothing has been granted to ${JSON.stringify(scope.text)} in ${stackName}, which takes no tokens: countersign users list shows whose trading can be limited.`,
  );
}
