/** Describes limits, stops and their history for an operator. */

import type { ControlHistoryLine, ListedControl } from '../../lib/guard-rails/admin.ts';
import type { ControlChange, ControlSubject } from '../../lib/guard-rails/control-changes.ts';
import type { LimitChanges, TradingLimits } from '../../lib/guard-rails/limits.ts';
import { limitTexts } from './trading-values.ts';
import { momentOf, subjectWords } from './users-words.ts';

export function scopeWords(subject: ControlSubject): string {
  switch (subject.kind) {
    case 'gateway':
      return 'gateway';
    case 'account':
      return `account ${subject.id}`;
    case 'user':
      return subjectWords(subject.user);
  }
}

/** Describes a scope in one line, and each setting of it in another. */
export function controlWords(control: ListedControl, deployed: TradingLimits): readonly string[] {
  const { name, version, limits, stopped } = control;
  const isGateway = name === undefined;
  const all = isGateway ? limitsWords(limits, deployed) : limitsWords(limits, {});
  return [
    headOf(control),
    ...(stopped ? [`  stopped ${sinceWords(control)}`] : []),
    ...(all.length > 0 ? all : ['  no limits']),
    `  version ${version}`,
    ...(isGateway ? [] : [`  name in logs: ${name}`]),
  ];
}

const headOf = ({ name, about }: ListedControl): string =>
  about ? scopeWords(about.subject) : name === undefined ? 'gateway' : 'sealed with another identity key';

const sinceWords = ({ stopped, about }: ListedControl): string =>
  `since ${momentOf(stopped?.at ?? 0)}${about?.stopped ? ` by ${about.stopped.by}: ${about.stopped.reason}` : ''}`;

/** Describes a stop; undefined while trading goes on. */
export const stopWords = (control: ListedControl): string | undefined =>
  control.stopped && `${headOf(control)} ${sinceWords(control)}`;

/** Lists the limits in force: those that were set, and deployed ones that none was set in place of. */
function limitsWords(limits: LimitChanges, deployed: TradingLimits): readonly string[] {
  const set = limitTexts(limits);
  const before = limitTexts(deployed);
  return [...new Set([...before.keys(), ...set.keys()])].flatMap((name) => {
    const own = set.get(name);
    const deployedText = before.get(name);
    if (own === undefined) return [`  ${name}: ${deployedText} (deployed)`];
    if (deployedText === undefined) return own === null ? [] : [`  ${name}: ${own}`];
    return [`  ${name}: ${own ?? 'none'} (in place of the deployed ${deployedText})`];
  });
}

/** Lists the names that a change added to a list or removed from it, because a list that is set replaces the one before. */
export function listWords(before: TradingLimits, now: TradingLimits): readonly string[] {
  return Object.entries({ ...before, ...now }).flatMap(([name]) => {
    const [was = [], is = []] = [before, now].map((limits) => limits[name as keyof TradingLimits]);
    if (!Array.isArray(was) || !Array.isArray(is)) return [];
    const lacking = (from: readonly string[], other: readonly string[]) =>
      from.filter((one) => !other.includes(one)).join(', ');
    const [added, removed] = [lacking(is, was), lacking(was, is)];
    const parts = [...(added ? [`added ${added}`] : []), ...(removed ? [`removed ${removed}`] : [])];
    return parts.length > 0 ? [`${name}: ${parts.join('; ')}`] : [];
  });
}

/** Describes the deployed limits while an operator has set none. */
export const deployedWords = (deployed: TradingLimits): readonly string[] => {
  const all = limitsWords({}, deployed);
  return ['gateway', ...(all.length > 0 ? all : ['  no limits'])];
};

export function historyWords(line: ControlHistoryLine): string {
  if (!('change' in line)) return `${line.at}  (sealed with another identity key)`;
  const { at, by, version, change, limitsBefore } = line;
  const reason = change.reason === undefined ? '' : `: ${change.reason}`;
  return `${at}  ${by}  ${scopeWords(change.subject)} version ${version}  ${changeWords(change, limitsBefore)}${reason}`;
}

function changeWords(change: ControlChange, limitsBefore: LimitChanges | undefined): string {
  if (change.action === 'stop') return change.cancelOpen ? 'stop, cancel open orders' : 'stop';
  if (change.action === 'resume') return change.action;
  if (change.action === 'confirm') return `confirm ${change.tables.join(', ')} as restored`;
  const before = limitsBefore && limitTexts(limitsBefore);
  // A check without an action of its own has the default one.
  const notSet = (name: string) =>
    change.subject.kind === 'gateway' ? 'as deployed' : name.startsWith('actions.') ? 'the default' : 'none';
  return [...limitTexts(change.changes)]
    .map(([name, text]) => {
      const was = before?.get(name) ?? (before?.has(name) ? 'none' : notSet(name));
      return `${text === null ? `unset ${name}` : `set ${name}=${text}`}${before ? ` (before: ${was})` : ''}`;
    })
    .join(', ');
}
