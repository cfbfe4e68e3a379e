/** What is wrong with the form of a configuration, in sentences: each names the property, and what it takes. */

import type * as v from 'valibot';
import { groups } from '../../lib/catalogue/index.ts';
import { didYouMean } from '../nearest-name.ts';
import { exampleAt, opensEmpty } from './config-examples.ts';
import { membersAt } from './places.ts';

/**
 * @param issue of the given schema
 * @returns a sentence, or several for an object with several members that it cannot have
 */
export function sentencesOf(schema: v.GenericSchema, issue: v.BaseIssue<unknown>): readonly string[] {
  const items = issue.path ?? [];
  const path = items.map(({ key }) => String(key));
  // The schema library takes a list for an object whose members are its indices.
  const listed = items.findIndex(({ type, input }) => type === 'object' && Array.isArray(input));
  if (listed >= 0) return [wrongKind(path.slice(0, listed), 'takes an object')];
  const isObject = issue.type === 'strict_object' || issue.type === 'record';
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    // The schema names the first one only.
    const around = path.slice(0, -1);
    const known = membersAt(schema, around);
    const given = Object.keys((items.at(-1)?.input ?? {}) as object);
    return given
      .filter((name) => !known.includes(name))
      .map((name) => unknownMember([...around, name], known));
  }
  const isOther = issue.expected === 'Object' && issue.received !== 'undefined';
  if (issue.type === 'strict_object' && !isOther) return [`${nameOf(path)} is required.`];
  if (isObject) return [wrongKind(path, 'takes an object')];
  if (issue.type === 'array' && issue.message.startsWith('Invalid')) return [wrongKind(path, 'takes a list')];
  const isNoObject = typeof issue.input !== 'object' || issue.input === null;
  return [isNoObject ? wrongKind(path, issue.message) : `${nameOf(path)} ${issue.message}.`];
}

const nameOf = (path: readonly string[]) => path.join('.') || 'The configuration';

const wrongKind = (path: readonly string[], takes: string) => `${nameOf(path)} ${takes}${suchAs(path)}.`;

function unknownMember(path: readonly string[], known: readonly string[]): string {
  const [name = ''] = path.slice(-1);
  // Tokens and the stream have groups, too; saying "unknown" of them would send the deployer looking for a typing error.
  if (path[0] === 'groups' && path.length === 2 && isNeverOpen(name))
    return `${path.join('.')} can never be opened: its operations are for the operator’s own client.`;
  return `${path.join('.')} is not a property that can be configured here.${didYouMean(name, known)}`;
}

const isNeverOpen = (name: string) =>
  Object.hasOwn(groups, name) && (groups as Record<string, { exposure: string }>)[name]?.exposure === 'never';

function suchAs(path: readonly string[]): string {
  const example = exampleAt(path);
  if (example === undefined) return '';
  return `, such as ${opensEmpty.includes(path.join('.')) ? '{} or ' : ''}${literal(example)}`;
}

/** As it is written in TypeScript. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${/^[a-z]\w*$/i.test(name) ? name : literal(name)}: ${literal(member)}`,
  );
  return `{ ${members.join(', ')} }`;
}
